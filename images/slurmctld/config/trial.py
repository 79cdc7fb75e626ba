# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a slurmctld starts with a set of files, and why not.

A trial is a slurmctld with an empty StateSaveLocation, another port, a key of its own, and without slurmdbd, tokens,
engine and programs of power saving and of a controller's start. It parses the files, and loads the plugins. It has a node
that nobody knows, so that gres.conf is read. It has the pod's network, where its key opens nothing.
"""
import difflib
import glob
import os
import re
import shutil
import signal
import subprocess
import time

import sets

RUN = '/run'
PORT = 6899
TRIAL_SECONDS = 30
# Settings of the trial's slurm.conf that are not those of the set.
REPLACED = re.compile(
    r'\s*(SlurmctldHost|SlurmctldPort|SlurmctldPidFile|SlurmctldDebug|SlurmctldLogFile|SlurmctldSyslogDebug'
    r'|SlurmctldPrimaryOnProg|SlurmctldPrimaryOffProg|StateSaveLocation|AccountingStorage\w*|AuthAlt\w*|JobCompType'
    r'|ResumeProgram|ResumeFailProgram|SuspendProgram|PrologSlurmctld|EpilogSlurmctld)\s*=', re.I)
# Settings whose value may be a file of the set. Nodes get theirs only without a folder in its name.
PROGRAMS = re.compile(
    r'\s*((Task)?(Prolog|Epilog)|(?P<of_slurmctld>(Prolog|Epilog)Slurmctld))\s*=\s*"?(?P<name>[^"\s#]+)', re.I)
AUTO_DETECT = re.compile(r'\s*AutoDetect\s*=\s*(?!off\b)\S', re.I)
# Settings of plugins that the trial does not load: what it replaces.
PLUGINS = ('AccountingStorageType', 'AuthAltTypes', 'JobCompType')
# Where Debian's Slurm has them, and a Slurm that was built elsewhere.
PLUGIN_FOLDERS = ('/usr/lib/*/slurm-wlm', '/usr/lib64/slurm', '/usr/lib/slurm', '/usr/local/lib/slurm')
INCLUDE = re.compile(r'\s*Include\s+(\S+)', re.I)
# Errors of each slurmctld without a state, and of the trial's own settings.
USUAL = re.compile(r'more than once|state file|state save file|engine not started|^NOTE:')
STARTED = 'Running as primary controller'
# Files whose lines are quoted in events. Others may be a Secret's, and have a password: acct_gather.conf.
QUOTED = ('slurm.conf', 'cgroup.conf', 'gres.conf', 'helpers.conf', 'job_container.conf', 'mpi.conf', 'oci.conf',
          'plugstack.conf', 'topology.conf', 'topology.yaml')


def gres_type(text):
    """One of GresTypes, for a node: without one slurmctld does not read gres.conf. mps and shard need a GPU."""
    types = sets.setting(text, 'GresTypes').split(',')
    return 'gpu' if 'gpu' in types else next((one for one in types if one not in ('mps', 'shard')), '')


def trial_conf(text, state):
    """slurm.conf of the trial. Lines stay where they are: errors name them."""
    lines = ['' if REPLACED.match(line) else line for line in text.split('\n')]
    lines += [f'SlurmctldHost={os.uname().nodename}', f'SlurmctldPort={PORT}', f'StateSaveLocation={state}',
              f'SlurmctldPidFile={state}/pid', 'SlurmctldDebug=info']
    gres = gres_type(text)
    if gres:
        lines.append(f'NodeName=slurm-k8s-trial CPUs=1 Gres={gres}:1 State=CLOUD')
    return '\n'.join(lines) + '\n'


def without_quote(error):
    """Slurm's error without the line of a file that is not to be quoted."""
    match = re.match(r'(Parse error in file (\S+) line \d+):', error)
    return match.group(1) if match and match.group(2) not in QUOTED else error


def messages(log, folder):
    """The errors of a log, without what each trial has."""
    found = []
    for line in log.split('\n'):
        match = re.search(r'\b(?:error|fatal): (.*)', line)
        if match and not USUAL.search(match.group(1)):
            text = without_quote(re.sub(r'^_\w+: ', '', match.group(1)).replace(folder + '/', ''))
            if text not in found:
                found.append(text)
    return found


def place(errors, texts, live):
    """'FILE line N: TEXT: ' of the line that the errors are about: the new one with most of their words."""
    for error in errors:
        match = re.search(r'Parse error in file (\S+) line (\d+)', error)
        if match:
            return ''  # it says so itself
    words = {word.lower() for error in errors for word in re.findall(r'[\w./-]{3,}', error)}
    best, changed = (0, ''), []
    for name, text in texts.items():
        lines = text.split('\n')
        matcher = difflib.SequenceMatcher(None, live.get(name, '').split('\n'), lines, autojunk=False)
        for tag, _, _, first, last in matcher.get_opcodes():
            for number in range(first, last) if tag != 'equal' else ():
                line = lines[number].strip()
                if not line or line.startswith('#'):
                    continue
                score = len(words & {word.lower() for word in re.findall(r'[\w./-]{3,}', line)})
                shown = line[:120].encode(errors='surrogateescape').decode(errors='replace')
                changed.append(f'{name} line {number + 1}: ' + (f'"{shown}": ' if name in QUOTED else ''))
                if score > best[0]:
                    best = (score, changed[-1])
    return best[1] or (changed[0] if len(changed) == 1 else '')


def run_trial(conf, log_path, environment):
    """True unless a slurmctld ends with it. One that takes long to start is not refused."""
    with open(log_path, 'wb') as log:
        trial = subprocess.Popen(['slurmctld', '-D', '-f', conf], stdin=subprocess.DEVNULL, stdout=log,
                                 stderr=subprocess.STDOUT, env=environment, start_new_session=True)
    try:
        deadline = time.monotonic() + TRIAL_SECONDS
        while time.monotonic() < deadline:
            ended = trial.poll() is not None
            with open(log_path, encoding='utf-8', errors='replace') as log:
                if STARTED in log.read():
                    return True
            if ended:
                return False
            time.sleep(0.02)
        return True
    finally:
        try:
            os.killpg(trial.pid, signal.SIGKILL)  # slurmscriptd, too
        except ProcessLookupError:
            pass
        trial.wait()


def plugstack_errors(folder, environment):
    """slurmctld does not read plugstack.conf; commands do. A plugin may be in other images alone. One that takes long is
    not refused."""
    try:
        said = subprocess.run(['srun', '--help'], stdin=subprocess.DEVNULL, capture_output=True, env=environment,
                              check=False, timeout=TRIAL_SECONDS).stderr.decode(errors='replace')
    except subprocess.TimeoutExpired:
        return []
    return [line for line in messages(said, folder) if 'Invalid' in line]


def script_errors(texts, folder):
    """What bash says of scripts for it or sh, which are in the folder. slurmctld does not read those that nodes run. A
    line of a script is not quoted: it may be a Secret's."""
    errors = []
    for name, text in texts.items():
        if not re.match(r'#!\s*\S*/(env\s+)?(bash|sh)\b', text):
            continue
        said = subprocess.run(['bash', '-n', os.path.join(folder, name)], stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=TRIAL_SECONDS)
        if said.returncode:
            errors.append(said.stderr.decode(errors='replace').split('\n')[0].replace(folder + '/', ''))
    return errors


def lines_of(texts, file='slurm.conf', seen=()):
    """(FILE, NUMBER, LINE) of a file of the set, and of those of the set that it includes."""
    for number, line in enumerate(texts[file].split('\n'), 1):
        yield file, number, line
        match = INCLUDE.match(line)
        included = match.group(1).removeprefix(sets.LIVE + '/') if match else ''
        if included in texts and included not in (file, *seen):
            yield from lines_of(texts, included, (file, *seen))


def settings_of(texts):
    """{NAME: (FILE, NUMBER, VALUE)} with names in lower case. Slurm takes the last of each."""
    found = {}
    for file, number, line in lines_of(texts):
        match = re.match(r'\s*(\w+)\s*=\s*(?:"([^"]*)"|([^\s#"]+))', line)
        if match:
            found[match.group(1).lower()] = (file, number, match.group(2) or match.group(3) or '')
    return found


def plugin_errors(texts):
    """Plugins that the trial does not load and that are not there. slurmctld ends without one."""
    settings = settings_of(texts)
    named = settings.get('plugindir', ('', 0, ''))[2]
    folders = [one for one in named.split(':') if one] or [one for some in PLUGIN_FOLDERS for one in glob.glob(some)]
    errors = []
    for setting in PLUGINS if folders else ():
        file, number, value = settings.get(setting.lower(), ('', 0, ''))
        for plugin in value.split(',') if value else ():
            name = plugin.strip().replace('/', '_') + '.so'
            if plugin.strip() and not any(os.path.isfile(os.path.join(folder, name)) for folder in folders):
                errors.append(f'{file} line {number}: {setting}={value}: no plugin {name} in {":".join(folders)}')
    return errors


def program_errors(texts):
    """Programs of the set that slurm.conf names and that nobody could run. slurmctld sends a node's to it without a look,
    and the node is drained at its first job. Of a slurmctld's that is missing, slurmctld ends; the trial has none."""
    errors = []
    for file, number, line in lines_of(texts):
        match = PROGRAMS.match(line)
        if not match:
            continue
        name = match.group('name')
        if match.group('of_slurmctld'):
            name = name.removeprefix(sets.LIVE + '/')
        if re.search(r'[/*?[]', name) or sets.is_program(texts.get(name, '')):
            continue
        why = 'it does not begin with #!' if name in texts else 'no such file'
        quote = f'"{line.strip()[:120]}": ' if file in QUOTED else ''
        errors.append(f'{file} line {number}: {quote}{name}: {why}')
    return errors


def auto_detect_errors(log, texts):
    """An AutoDetect for all nodes. slurmctld starts with it, and creates no NodeSet's node from then on. LOG: the trial's,
    which has a node of that kind."""
    if 'Cannot use AutoDetect' not in log:
        return []
    for file, number, line in lines_of(texts, 'gres.conf'):
        if AUTO_DETECT.match(line):
            return [f'{file} line {number}: "{line.strip()[:120]}": slurmctld would create no node of a NodeSet. Remove it: GPUs '
                    'in the limits of a NodeSet need no AutoDetect']
    return ['gres.conf: AutoDetect: slurmctld would create no node of a NodeSet']


def try_set(texts, live):
    """Why slurmctld does not start with these files; empty when it does."""
    if 'slurm.conf' not in texts:
        return 'slurm.conf: required'
    work = os.path.join(RUN, 'trial')
    folder, state, log_path = (os.path.join(work, name) for name in ('conf', 'state', 'log'))
    shutil.rmtree(work, ignore_errors=True)
    sets.write_set(folder, texts)
    os.makedirs(state)
    conf = os.path.join(folder, 'slurm.conf')
    sets.write(conf, trial_conf(texts['slurm.conf'], state))
    sets.write(os.path.join(work, 'key'), os.urandom(32).hex(), 0o400)
    os.makedirs(os.path.join(RUN, 'slurm-k8s'), exist_ok=True)
    for name in ('gres.conf', 'cgroup.conf'):  # included by the chart's files of these names
        sets.write(os.path.join(RUN, 'slurm-k8s', name), '')
    environment = dict(os.environ, SLURM_CONF=conf, SLURM_SACK_KEY=os.path.join(work, 'key'),
                       SLURM_K8S_CONF=os.path.join(work, 'none'))
    started = run_trial(conf, log_path, environment)
    with open(log_path, encoding='utf-8', errors='replace') as log:
        text = log.read()
    if not started:
        errors = messages(text, folder) or ['slurmctld ended without a message']
        return (place(errors, texts, live) + '; '.join(errors))[:900]
    return '; '.join(auto_detect_errors(text, texts) + plugin_errors(texts) + plugstack_errors(folder, environment) +
                     program_errors(texts) + script_errors(texts, folder))[:900]
