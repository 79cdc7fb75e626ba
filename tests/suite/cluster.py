# SPDX-License-Identifier: GPL-2.0-or-later
"""A Slurm cluster on the test bed for Slurm's test suite, the chart's or plain, in a namespace of its own.

The suite and /tmp are folders of this machine, which all its pods mount: tests write files where their jobs run.
"""
import json
import os
import pathlib
import re
import shutil
import string
import subprocess
import time

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
BED = ROOT / 'tests/bed/bed'
DEBIAN = 'trixie'  # tests/suite/expected is about its Slurm
NODES = 6
MACHINE = 'node1'  # the bed's Kubernetes node on this machine, whose folders the pods mount
# User ids in the image.
IDS = {'slurm': 401, 'user': 1001}
NAMES = {'slurm': 'slurm', 'user': 'tester'}
# Lines of the chart's slurm.conf that plain Slurm does not have: power saving, our plugins, what goes with them.
OURS = re.compile(r'(?m)^    (Resume\w+|Suspend\w+|SlurmctldParameters|SchedulerParameters|PrEpPlugins|NodeFeaturesPlugins'
                  r'|JobSubmitPlugins)=.*\n')
PLAIN_LINES = '    SlurmctldParameters=enable_configless\n    SchedulerParameters=bf_interval=5\n'
CONF = """\
SlurmSourceDir = /suite/{name}
SlurmBuildDir = /suite/{name}
SlurmInstallDir = /opt/slurm
SlurmConfigDir = /etc/slurm
"""
GLOBALS = """\
set testsuite_colorize 0
set max_job_delay 60
"""


class Failed(Exception):
    """A command of the bed, and what it said."""


def source():
    """The folder of Slurm's source of the version that the images have; None when this machine's mirror has none."""
    subprocess.run([ROOT / 'tests/compat/fetch_source'], stdout=subprocess.DEVNULL, check=True)
    version = re.search(r'slurmVersion: "(.*)"', suite_values().read_text(encoding='utf-8')).group(1)
    cache = os.environ.get('SLURM_K8S_SLURM_SOURCES') or os.path.join(
        os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'slurm-k8s/slurm-source')
    return max((path for path in pathlib.Path(cache).glob(f'{version}.*') if (path / 'testsuite').is_dir()), default=None)


def suite_values():
    return ROOT / f'tests/e2e/suites/{DEBIAN}.yaml'


ACCOUNTING = {
    'enabled': True, 'enforce': ['associations', 'limits', 'qos', 'safe'],
    'mariadb': {'persistence': {'enabled': False}, 'resources': {'requests': {'cpu': '5m', 'memory': '64Mi'}}}}
ACCOUNTING_FILES = ('password', 'mariadb', 'slurmdbd_config', 'slurmdbd')


class Cluster:
    """`kind` is demand, plain or always. With accounting each has the chart's slurmdbd, and an account for each user."""

    def __init__(self, kind, number, sources, accounting=False):
        self.kind = kind
        self.accounting = accounting
        self.sources = sources
        self.namespace = f'{os.environ.get("BED_NAMESPACE", "slurm")}-{kind}-{number}'
        self.folder = pathlib.Path(self.bed('kubeconfig').strip()).parent.parent / f'suite-{self.namespace}'
        self.image_tag = self.bed('image', 'tag').strip()
        self.image = f'localhost/slurm-k8s/suite:{self.image_tag}'

    def run(self, *words, stdout=subprocess.PIPE, **options):
        environment = os.environ | {'BED_NAMESPACE': self.namespace}
        return subprocess.run([BED, *map(str, words)], env=environment, stdout=stdout, stderr=subprocess.STDOUT,
                              text=True, errors='replace', check=False, **options)

    def bed(self, *words, **options):
        """What tests/bed/bed says."""
        done = self.run(*words, **options)
        if done.returncode:
            raise Failed(f'bed {" ".join(map(str, words))}: exit code {done.returncode}: {done.stdout[-2000:]}')
        return done.stdout

    def kubectl(self, *words, **options):
        return self.bed('kubectl', '--namespace', self.namespace, *words, **options)

    # Files.

    def prepare_files(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / 'tmp').mkdir(parents=True)
        (self.folder / 'tmp').chmod(0o1777)
        for user, name in NAMES.items():
            folder = self.folder / 'suite' / name
            shutil.copytree(self.sources / 'testsuite', folder / 'testsuite')
            for headers in ('slurm', 'src'):
                shutil.copytree(self.sources / headers, folder / headers, ignore=shutil.ignore_patterns('*.c'))
            shutil.copy(FOLDER / 'config.h', folder)
            (folder / 'testsuite.conf').write_text(CONF.format(name=name), encoding='utf-8')
            (folder / 'globals.local').write_text(GLOBALS, encoding='utf-8')
            (folder / 'home').mkdir()
            subprocess.run(['chown', '--recursive', f'{IDS[user]}:{IDS[user]}', folder], check=True)
        shutil.copy(FOLDER / 'between', self.folder / 'suite')

    # Installation.

    def values(self):
        mounts = [{'name': 'suite', 'mountPath': '/suite'}, {'name': 'tmp', 'mountPath': '/tmp'}]
        volumes = [{'name': name, 'hostPath': {'path': f'{self.folder}/{name}', 'type': 'Directory'}}
                   for name in ('suite', 'tmp')]
        machine = {'kubernetes.io/hostname': MACHINE}
        image = {'repository': 'localhost/slurm-k8s/suite'}
        return {
            'images': {'tag': self.image_tag},
            # A job takes a part of a node's memory, as tests expect that run several.
            'slurm': {'defMemPerCPU': 100, 'suspendTime': 60, 'suspendTimeout': 5, 'requeueDelay': 10,
                      'resumeTimeout': 90},
            'podPolicy': {'level': 'privileged'},  # for hostPath
            'accounting': ACCOUNTING if self.accounting else {'enabled': False},
            'controller': {
                'persistence': {'enabled': False},
                'slurmctld': {'image': image, 'volumeMounts': mounts, 'resources': {'requests': {'cpu': '20m'}}},
                'podSpec': {'volumes': volumes, 'nodeSelector': machine, 'terminationGracePeriodSeconds': 5}},
            'nodesets': {'compute': {
                'replicas': NODES,
                'scalingMode': 'Always' if self.kind == 'always' else 'OnDemand',
                'slurmd': {'image': image, 'command': ['tini', '--', 'slurmd-entrypoint'], 'workingDir': '/',
                           'securityContext': {'runAsUser': 0}, 'volumeMounts': mounts,
                           'resources': {'requests': {'cpu': '5m'}}},
                'podSpec': {'volumes': volumes, 'nodeSelector': machine}}}}

    def helm(self, *words):
        values = self.folder / 'values.json'
        values.write_text(json.dumps(self.values()), encoding='utf-8')
        return self.bed('helm', *words, '--namespace', self.namespace, '--values', suite_values(), '--values', values,
                        timeout=240)

    def install(self):
        self.remove(wait=True)
        self.prepare_files()
        if self.kind != 'plain':
            self.bed('kubectl', 'apply', '--server-side', '--force-conflicts', '--filename', ROOT / 'helm/slurm/crds')
            self.helm('install', 'slurm', ROOT / 'helm/slurm', '--create-namespace', '--wait', '--timeout', '180s')
        else:
            self.install_plain()
        deadline = time.monotonic() + 120
        while self.node_count() != NODES:
            if time.monotonic() > deadline:
                raise Failed(f'{self.namespace}: not {NODES} nodes within 120 s')
            time.sleep(1)
        if self.accounting:
            self.add_accounts()
        trouble = self.come_back()[1]
        if trouble:
            raise Failed(f'{self.namespace}: {trouble}')

    def add_accounts(self):
        self.bed('slurm', 'sacctmgr', '--immediate', 'add', 'account', 'suite')
        for name in NAMES.values():
            self.bed('slurm', 'sacctmgr', '--immediate', 'add', 'user', name, 'account=suite')

    def install_plain(self):
        self.bed('kubectl', 'create', 'namespace', self.namespace)
        files = ['config/configmap', 'config/key']
        if self.accounting:
            files += [f'accounting/{name}' for name in ACCOUNTING_FILES]
        config = self.helm('template', 'slurm', ROOT / 'helm/slurm', '--set=slurm.spank.enabled=false',
                           *(f'--show-only=templates/{name}.yaml' for name in files))
        config = OURS.sub('', config).replace('  slurm.conf: |\n', f'  slurm.conf: |\n{PLAIN_LINES}')
        names = {'NAMESPACE': self.namespace, 'IMAGE': self.image, 'FOLDER': self.folder, 'NODES': NODES,
                 'MACHINE': MACHINE}
        pods = string.Template((FOLDER / 'plain.yaml').read_text(encoding='utf-8')).substitute(names)
        self.kubectl('apply', '--filename=-', input=f'{config}\n---\n{pods}')

    def remove(self, wait=False):
        self.run('helm', 'uninstall', 'slurm', '--namespace', self.namespace, '--ignore-not-found', '--wait')
        self.bed('kubectl', 'delete', 'namespace', self.namespace, '--ignore-not-found', f'--wait={str(wait).lower()}',
                 timeout=180)

    # Commands in the controller's container.

    def node_count(self):
        done = self.run('slurm', 'sinfo', '--noheader', '--Node', '--format=%N')
        return len(set(done.stdout.split())) if done.returncode == 0 else 0

    def come_back(self):
        """Ends what a test has left, and waits until all nodes are idle. What was left; what is wrong, or ''."""
        self.run('slurm', '--user', IDS['user'], 'pkill', '-KILL', '-u', 'tester')
        done = self.run('slurm', 'bash', '/suite/between', self.kind, timeout=120)
        return done.stdout.strip(), '' if done.returncode == 0 else f'the cluster does not come back: {done.stdout[-300:]}'

    def restarts(self):
        """Of the controller's containers."""
        return self.kubectl('get', 'pod', 'slurm-controller-0', '--output=jsonpath={.status.containerStatuses[*].restartCount}')

    def keep_logs(self, folder):
        """Of the controller's containers; of the one before, too, where it was restarted."""
        for container in ('slurmctld', 'sidecar'):
            for previous in ('false', 'true'):
                done = self.run('kubectl', '--namespace', self.namespace, 'logs', 'slurm-controller-0', '--container', container,
                                f'--previous={previous}')
                if done.returncode == 0:
                    with open(folder / f'{self.namespace}-{container}.log', 'a', encoding='utf-8') as file:
                        file.write(done.stdout)

    def run_test(self, user, test, seconds, log):
        """Exit code, as timeout has it. Into a file, since what the test leaves running would keep a pipe open."""
        name = NAMES[user]
        folder = f'/suite/{name}'
        environment = {'HOME': f'{folder}/home', 'USER': name, 'LOGNAME': name, 'SHELL': '/bin/bash', 'TERM': 'xterm',
                       'SLURM_TESTSUITE_CONF': f'{folder}/testsuite.conf', 'PYTHONDONTWRITEBYTECODE': '1',
                       'SLURM_LOCAL_GLOBALS_FILE': f'{folder}/globals.local'}
        if test.startswith('test_'):
            where = f'{folder}/testsuite/python/tests'
            command = ['python3', '-m', 'pytest', '-s', '-rA', '-v', '-p', 'no:cacheprovider', '--local-config', '--no-color',
                       f'{test}.py']
        else:
            where = f'{folder}/testsuite/expect'
            command = ['expect', test]
        with open(log, 'w', encoding='utf-8') as file:
            return self.run('slurm', '--user', IDS[user], 'env', f'--chdir={where}',
                            *(f'{key}={value}' for key, value in environment.items()),
                            'timeout', '--kill-after=10', seconds, *command, stdout=file, stdin=subprocess.DEVNULL,
                            timeout=seconds + 60).returncode
