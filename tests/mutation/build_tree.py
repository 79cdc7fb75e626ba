# SPDX-License-Identifier: GPL-2.0-or-later
"""A copy of the tree, built as far as a test program uses it, again and again."""
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess

from patch import FOLDERS, TREE

BUILD_LIMIT, TEST_LIMIT = 1800, 300  # seconds; the first build compiles all of a folder
MEMORY_LIMIT = 4 << 30  # bytes, for each process of a test program: some mistakes have no end
# What tests open or start, besides themselves: folders and their targets.
OPENED = {
    'unit/plugins/rounds_test': [('engine', 'all'), ('plugins', 'all')],
    'unit/plugins/in_slurmctld_test': [('engine', 'all'), ('plugins', 'prep_k8s.la job_submit_k8s.la node_features_k8s.la')],
    'unit/plugins/power_k8s/programs.sh': [('plugins', 'slurm-k8s-resume slurm-k8s-suspend')],
    'unit/nss/module_test': [('nss', 'all')],
    'unit/convert/convert_command.sh': [('sidecar', 'all')],
    'contract/faults_on_fake.sh': [('tests', 'contract/faults')],
    'contract/suite_on_fake.sh': [('tests', 'contract/suite')],
}
# automake: "PASS: PROGRAM 1 - NAME"; cmocka: "SKIP: PROGRAM 1 # SKIP NAME".
RESULT = re.compile(r'(?m)^(PASS|FAIL|SKIP|ERROR): \S+(?: \d+)?(?: -)?(?: # SKIP)? ?(.*?)(?: # .*)?$')


class Broken(Exception):
    """What could not be built, with the end of what make said."""


def run(command, folder, environment, limit):
    """Exit code and output. What takes too long is killed with its children: None, and what it said."""
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, errors='replace', start_new_session=True) as process:
        try:
            output = process.communicate(timeout=limit)[0]
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def end_of(output, lines=15):
    return '\n'.join(output.splitlines()[-lines:])


def environment_of(sources):
    """With the compiler's cache, as ./check has it; paths in it are those of any copy."""
    cache = os.environ.get('SLURM_K8S_CACHE') or os.path.join(
        os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'slurm-k8s')
    own = {'CCACHE_DIR': f'{cache}/ccache', 'CCACHE_MAXSIZE': '2G', **os.environ,
           'CCACHE_BASEDIR': str(sources), 'CCACHE_NOHASHDIR': '1'}
    if os.path.isdir('/usr/lib/ccache'):
        own['PATH'] = f'/usr/lib/ccache:{own["PATH"]}'
    return own


class BuildTree:
    """One thread at a time; of another process, none: `folder` has a lock."""

    def __init__(self, folder):
        self.sources, self.build = folder / 'sources', folder / 'build'
        folder.mkdir(parents=True, exist_ok=True)
        self.lock = open(folder / 'lock', 'w', encoding='utf-8')
        fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.environment = environment_of(self.sources)
        self.changed = set(FOLDERS)  # their libraries are older than their sources

    def prepare(self):
        """Copies what has changed since the last run, and configures."""
        self._copy()
        if not (self.sources / 'configure').exists():
            self._make_sure(['./autogen.sh'], self.sources)
        if not (self.build / 'config.status').exists():
            self.build.mkdir(exist_ok=True)
            # Without debugging symbols and optimization: most of the time would be theirs.
            self._make_sure([self.sources / 'configure', '--quiet', '--prefix=/usr', '--sysconfdir=/etc', 'CXXFLAGS=-O0'],
                            self.build)

    def compile(self, program):
        """Builds a test program of `make check`, and what it uses."""
        for folder in sorted(self.changed, key=FOLDERS.index):
            makefile = re.sub(r'\\\n', ' ', (self.sources / folder / 'Makefile.am').read_text(encoding='utf-8'))
            libraries = ' '.join(re.findall(r'(?m)^noinst_LTLIBRARIES *\+?= *(.*)$', makefile)).split()
            self._make_sure(['make', *libraries], self.build / folder)
        self.changed.clear()
        for folder, targets in OPENED.get(program, []):
            self._make_sure(['make', *targets.split()], self.build / folder)
        if not program.endswith('.sh'):
            self._make_sure(['make', program], self.build / 'tests')

    def results(self, program):
        """Runs it: PASS, FAIL or SKIP by test, and ERROR of '' when it crashed. None: it did not end."""
        command = ['prlimit', f'--as={MEMORY_LIMIT}', 'make', 'check', f'TESTS={program}',
                   f'check_PROGRAMS={"" if program.endswith(".sh") else program}']
        code, output = run(command, self.build / 'tests', self.environment, TEST_LIMIT)
        if code is None:
            return None
        results = {}
        for result, test in RESULT.findall(output):
            results['' if result == 'ERROR' else test] = result
        return results or {'': 'ERROR'}

    def read(self, source):
        return (self.sources / source).read_text(encoding='utf-8')

    def write(self, source, text):
        (self.sources / source).write_text(text, encoding='utf-8')
        first = FOLDERS.index(source.split('/')[0])
        self.changed.update(FOLDERS[first:first + 1] if source.endswith('.cc') else FOLDERS[first:])

    def _make_sure(self, command, folder):
        code, output = run([str(word) for word in command], folder, self.environment, BUILD_LIMIT)
        if code != 0:
            raise Broken(f'{pathlib.Path(command[0]).name} {" ".join(command[1:4])} in {folder.name}: '
                         f'{"did not end" if code is None else "failed"}\n{end_of(output)}')

    def _copy(self):
        listed = subprocess.check_output(['git', 'ls-files', '-z', '-co', '--exclude-standard'], cwd=TREE, text=True)
        files = {name for name in listed.split('\0') if name and (TREE / name).is_file()}
        manifest = self.sources / '.copied'
        before = set(manifest.read_text(encoding='utf-8').splitlines()) if manifest.exists() else set()
        for name in before - files:
            (self.sources / name).unlink(missing_ok=True)
        for name in files:
            copy = self.sources / name
            if copy.is_file() and copy.read_bytes() == (TREE / name).read_bytes():
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TREE / name, copy)
        # Each commit would have a version of its own, and all that has it would be compiled again.
        (self.sources / '.tarball-version').write_text('0\n', encoding='utf-8')
        manifest.write_text('\n'.join(sorted(files)), encoding='utf-8')
