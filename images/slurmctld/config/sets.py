# SPDX-License-Identifier: GPL-2.0-or-later
"""Sets of configuration files: what /etc/slurm has, and the last good one, beside slurmctld's state."""
import os
import re
import shutil
import time

LIVE = '/etc/slurm'
STATE = '/var/spool/slurmctld'
GOOD = os.path.join(STATE, 'slurm-k8s-config')

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
    """Replaces the file's content, in place."""
    with open(path, 'w', **AS_IT_IS) as file:
        file.write(text)
    os.chmod(path, mode)


def is_program(text):
    """Whether the file can be run, as Prolog and Epilog are."""
    return text.startswith(('#!', '\x7fELF'))


def write_set(folder, texts):
    """Replaces the folder by one with these files. Programs are executable."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, text in texts.items():
        write(os.path.join(folder, name), text, 0o755 if is_program(text) else 0o644)


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


def good_files():
    """{name: text} of the last good set; {} when there is none."""
    while True:
        try:
            return files(GOOD)
        except FileNotFoundError:  # replaced meanwhile
            pass


def replace_good(texts, owner):
    """Makes these the last good set: a pod that starts with broken files has it. `owner` is this controller: another
    one may begin, or read, at the same time."""
    new, old = f'{GOOD}-{owner}.new', f'{GOOD}-{owner}-old.new'
    write_set(new, texts)
    shutil.rmtree(old, ignore_errors=True)
    if os.path.isdir(GOOD):
        os.rename(GOOD, old)
    os.rename(new, GOOD)
    shutil.rmtree(old, ignore_errors=True)


def remove(path):
    """Removes the file, if it is there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def replace(path, text):
    """Writes the file so that a reader has the former or the new content, and nothing between."""
    write(path + '.new', text)
    os.rename(path + '.new', path)


def setting(text, name):
    """Its value in slurm.conf: Slurm takes the last. Empty: it is not there."""
    found = re.findall(rf'^\s*{name}\s*=\s*([^\s#]+)', text, re.I | re.M)
    return found[-1] if found else ''
