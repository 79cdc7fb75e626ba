#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps /etc/slurm: only files with which a slurmctld has started get there.

usage: slurmctld-config start FOLDER  before slurmctld starts: installs FOLDER's files, or the last good ones
       slurmctld-config serve FOLDER  does what the sidecar asks for in FOLDER, for ever
       slurmctld-config await HASH    waits until the controller's pod tells what became of this configuration

serve: the sidecar puts a set of files into FOLDER/sets/ID and writes a line to the pipe FOLDER/requests. The answer
replaces the file FOLDER/answer: {"id", "error"}, with an empty error when all is well.

  check ID    tries the set; when the trial fails the error says why
  install ID  the same, and swaps the set into /etc/slurm
  restore ID  swaps the last good set back
  keep ID     what is in /etc/slurm is good: slurmctld runs with it
  compare ID  the error is "not kept" unless what is in /etc/slurm is the last good set

A trial is a slurmctld with an empty StateSaveLocation, another port, a key of its own, and without slurmdbd, tokens,
engine and programs of power saving and of a controller's start. It parses the files, and loads the plugins. It has a node
that nobody knows, so that gres.conf is read. It has the pod's network, where its key opens nothing.
"""
import difflib
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

LIVE = '/etc/slurm'
STATE = '/var/spool/slurmctld'
GOOD = os.path.join(STATE, 'slurm-k8s-config')
RUN = '/run'
PORT = 6899
TRIAL_SECONDS = 30
AWAIT_SECONDS = 240  # a new image of the controller may have to be pulled
# Reasons that end by themselves: helm has the pod recreated; kubelet starts slurmctld again.
PASSING = ('RestartRequired', 'SlurmctldAway')
# Settings of the trial's slurm.conf that are not those of the set.
REPLACED = re.compile(
    r'\s*(SlurmctldHost|SlurmctldPort|SlurmctldPidFile|SlurmctldDebug|SlurmctldLogFile|SlurmctldSyslogDebug'
    r'|SlurmctldPrimaryOnProg|SlurmctldPrimaryOffProg|StateSaveLocation|AccountingStorage\w*|AuthAlt\w*|JobCompType'
    r'|ResumeProgram|ResumeFailProgram|SuspendProgram|PrologSlurmctld|EpilogSlurmctld)\s*=', re.I)
# Errors of each slurmctld without a state, and of the trial's own settings.
USUAL = re.compile(r'more than once|state file|state save file|engine not started|^NOTE:')
STARTED = 'Running as primary controller'
# Files whose lines are quoted in events. Others may be a Secret's, and have a password: acct_gather.conf.
QUOTED = ('slurm.conf', 'cgroup.conf', 'gres.conf', 'helpers.conf', 'job_container.conf', 'mpi.conf', 'oci.conf',
          'plugstack.conf', 'topology.conf', 'topology.yaml')


# Files of users keep their bytes, whatever line ends and encoding they have.
AS_IT_IS = {'encoding': 'utf-8', 'errors': 'surrogateescape', 'newline': ''}


def files(folder):
    """{name: text} of the folder's files; of a volume's the links to them."""
    found = {}
    if os.path.isdir(folder):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if not name.startswith('..') and os.path.isfile(path):
                with open(path, **AS_IT_IS) as file:
                    found[name] = file.read()
    return found


def write(path, text, mode=0o644):
    with open(path, 'w', **AS_IT_IS) as file:
        file.write(text)
    os.chmod(path, mode)


def write_set(folder, texts):
    """Scripts can be run: Prolog, Epilog."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, text in texts.items():
        write(os.path.join(folder, name), text, 0o755 if text.startswith('#!') else 0o644)


def swap(texts):
    """Makes these the files of /etc/slurm, all at once: NAME -> ..data/NAME, ..data -> ..set-NUMBER."""
    data = os.path.join(LIVE, '..data')
    old = os.readlink(data) if os.path.islink(data) else ''
    new = f'..set-{time.time_ns()}'
    write_set(os.path.join(LIVE, new), texts)
    os.symlink(new, data + '.new')
    os.rename(data + '.new', data)
    for name in texts:
        path = os.path.join(LIVE, name)
        if not os.path.islink(path):
            os.symlink(os.path.join('..data', name), path)
    for name in os.listdir(LIVE):
        path = os.path.join(LIVE, name)
        if os.path.islink(path) and not name.startswith('..') and name not in texts:
            os.unlink(path)
        elif name.startswith('..set-') and name not in (new, old):
            shutil.rmtree(path, ignore_errors=True)


def keep():
    """The last good set, beside slurmctld's state: a pod that starts with broken files has it."""
    texts = files(LIVE)
    if texts == files(GOOD):
        return
    write_set(GOOD + '.new', texts)
    shutil.rmtree(GOOD, ignore_errors=True)
    os.rename(GOOD + '.new', GOOD)


def gres_type(text):
    """One of GresTypes, for a node: without one slurmctld does not read gres.conf. mps and shard need a GPU."""
    found = re.findall(r'^\s*GresTypes\s*=\s*([\w,]+)', text, re.I | re.M)
    types = found[-1].split(',') if found else []
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


def try_set(texts, live):
    """Why slurmctld does not start with these files; empty when it does."""
    if 'slurm.conf' not in texts:
        return 'slurm.conf: required'
    work = os.path.join(RUN, 'trial')
    folder, state, log_path = (os.path.join(work, name) for name in ('conf', 'state', 'log'))
    shutil.rmtree(work, ignore_errors=True)
    write_set(folder, texts)
    os.makedirs(state)
    conf = os.path.join(folder, 'slurm.conf')
    write(conf, trial_conf(texts['slurm.conf'], state))
    write(os.path.join(work, 'key'), os.urandom(32).hex(), 0o400)
    os.makedirs(os.path.join(RUN, 'slurm-k8s'), exist_ok=True)
    for name in ('gres.conf', 'cgroup.conf'):  # included by the chart's files of these names
        write(os.path.join(RUN, 'slurm-k8s', name), '')
    environment = dict(os.environ, SLURM_CONF=conf, SLURM_SACK_KEY=os.path.join(work, 'key'),
                       SLURM_K8S_CONF=os.path.join(work, 'none'))
    started = run_trial(conf, log_path, environment)
    with open(log_path, encoding='utf-8', errors='replace') as log:
        text = log.read()
    if not started:
        errors = messages(text, folder) or ['slurmctld ended without a message']
        return (place(errors, texts, live) + '; '.join(errors))[:900]
    return '; '.join(plugstack_errors(folder, environment) + script_errors(texts, folder))[:900]


def start(source):
    """Before slurmctld starts. A set that it ran with last needs no trial."""
    texts, good = files(source), files(GOOD)
    error = '' if texts == good else try_set(texts, good)
    if error and not good and not os.path.exists(os.path.join(STATE, 'clustername')):
        sys.exit(f'slurmctld-config: {error}')
    if error:
        # A state without a good set: slurmctld ran before there were trials, perhaps with files that a trial refuses.
        action = 'keeping the previous configuration' if good else 'no previous configuration, starting with it'
        print(f'slurmctld-config: {error}: {action}', file=sys.stderr)
    swap(good if error and good else texts)
    keep()  # also what slurmctld may only have run with: a refused change must have something to go back to


def do_request(folder, request):
    verb, identifier = request.split()
    error = ''
    if verb in ('check', 'install'):
        texts = files(os.path.join(folder, 'sets', identifier))
        error = try_set(texts, files(LIVE))
        if not error and verb == 'install':
            swap(texts)
    elif verb == 'restore':
        good = files(GOOD)
        if good:
            swap(good)
        else:
            error = f'{GOOD}: no files'
    elif verb == 'keep':
        keep()
    elif verb == 'compare':
        error = '' if files(LIVE) == files(GOOD) else 'not kept'
    else:
        error = f'{verb}: unknown'
    return {'id': identifier, 'error': error}


def serve(folder):
    requests, answer = os.path.join(folder, 'requests'), os.path.join(folder, 'answer')
    if not os.path.exists(requests):
        os.mkfifo(requests, 0o600)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    # Open for writing, too: the pipe has no end, and loses nothing.
    with open(os.open(requests, os.O_RDWR), encoding='utf-8') as pipe:
        for request in pipe:
            try:
                result = do_request(folder, request)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                result = {'id': request.split()[-1], 'error': f'slurmctld-config: {error}'}
            write(answer + '.new', json.dumps(result))
            os.rename(answer + '.new', answer)


def condition(url, context):
    with open('/var/run/secrets/kubernetes.io/serviceaccount/token', encoding='utf-8') as token:
        request = urllib.request.Request(url, headers={'Authorization': f'Bearer {token.read().strip()}'})
    with urllib.request.urlopen(request, context=context, timeout=10) as answer:
        pod = json.load(answer)
    conditions = pod.get('status', {}).get('conditions', [])
    return next((one for one in conditions if one['type'] == 'slurm-k8s.io/ConfigApplied'), {})


def await_answer(wanted):
    """The sidecar's answer about the configuration whose hash is `wanted`; others are about former ones."""
    account = '/var/run/secrets/kubernetes.io/serviceaccount'
    with open(f'{account}/namespace', encoding='utf-8') as file:
        namespace = file.read().strip()
    url = f'https://kubernetes.default.svc/api/v1/namespaces/{namespace}/pods/{os.environ["CONTROLLER_POD"]}'
    context = ssl.create_default_context(cafile=f'{account}/ca.crt')
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # authorities of clusters often lack key usages
    deadline, last = time.monotonic() + AWAIT_SECONDS, 'no answer of the sidecar'
    while time.monotonic() < deadline:
        try:
            found = condition(url, context)
            if wanted in found.get('message', ''):
                last = f'{found["reason"]}: {found["message"]}'
                if found['status'] == 'True':
                    print(last)
                    return
                if found['reason'] not in PASSING:
                    break
        except (OSError, urllib.error.URLError) as error:
            last = str(error)
        time.sleep(0.5)
    sys.exit(last)


def main():
    commands = {'start': start, 'serve': serve, 'await': await_answer}
    if len(sys.argv) != 3 or sys.argv[1] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    commands[sys.argv[1]](sys.argv[2])
    return 0


if __name__ == '__main__':
    sys.exit(main())
