#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies users and groups of a directory into files, for daemons that must not wait for a directory.

OUTPUT/passwd and OUTPUT/group are written as libnss-extrausers reads them: the lines of the same files in FOLDER, and
then what SERVICE of NSS has, such as ldap. When the service does not tell all, its part stays as it was. Without it for
10 s after the start, FOLDER's lines are there alone. Names of this machine's own /etc/passwd and /etc/group are left
out.
"""
import argparse
import ctypes
import errno
import os
import sys
import threading
import time

START_SECONDS = 10                 # as long as what waits for the files may wait for a directory
RETRY_SECONDS = 2
BUFFERS = (1 << 20, 1 << 26)       # bytes of an entry: at first, and at most
# enum nss_status: "NSS Modules Interface" in the manual of glibc
TRYAGAIN, NOTFOUND, SUCCESS = -2, 0, 1


class Passwd(ctypes.Structure):
    """struct passwd"""
    _fields_ = [('name', ctypes.c_char_p), ('password', ctypes.c_char_p), ('uid', ctypes.c_uint32),
                ('gid', ctypes.c_uint32), ('gecos', ctypes.c_char_p), ('folder', ctypes.c_char_p),
                ('shell', ctypes.c_char_p)]

    def fields(self):
        # Only gecos is free text.
        gecos = (self.gecos or b'').replace(b':', b' ').replace(b'\n', b' ')
        return [self.name, b'x', b'%d' % self.uid, b'%d' % self.gid, gecos, self.folder or b'', self.shell or b'']


class Group(ctypes.Structure):
    """struct group"""
    _fields_ = [('name', ctypes.c_char_p), ('password', ctypes.c_char_p), ('gid', ctypes.c_uint32),
                ('members', ctypes.POINTER(ctypes.c_char_p))]

    def fields(self):
        members = []
        while self.members and self.members[len(members)] is not None:
            members.append(self.members[len(members)])
        return [self.name, b'x', b'%d' % self.gid, b','.join(members)]


KINDS = {'passwd': (Passwd, 'pw'), 'group': (Group, 'gr')}


class Unavailable(Exception):
    """The service did not tell all entries."""


def entries(service, kind):
    """All entries of an NSS service as lists of fields. Raises Unavailable, also after some of them."""
    structure, prefix = KINDS[kind]
    try:
        library = ctypes.CDLL(f'libnss_{service}.so.2')
        start, get, end = (getattr(library, f'_nss_{service}_{name}')
                           for name in (f'set{prefix}ent', f'get{prefix}ent_r', f'end{prefix}ent'))
    except (OSError, AttributeError) as error:
        raise Unavailable(str(error)) from None
    start(0)
    try:
        size = BUFFERS[0]
        buffer = ctypes.create_string_buffer(size)
        while True:
            entry, error = structure(), ctypes.c_int()
            status = get(ctypes.byref(entry), buffer, ctypes.c_size_t(size), ctypes.byref(error))
            if status == SUCCESS:
                yield entry.fields()
            elif status == NOTFOUND:
                return
            elif status == TRYAGAIN and error.value == errno.ERANGE and size < BUFFERS[1]:
                size *= 4
                buffer = ctypes.create_string_buffer(size)
            else:
                raise Unavailable(f'{os.strerror(error.value)} (status {status})')
    finally:
        end()


def read_lines(path):
    """The complete and the last line alike. A file that is missing has none."""
    try:
        with open(path, 'rb') as file:
            return [line for line in file.read().split(b'\n') if line]
    except FileNotFoundError:
        return []


def name_of(line):
    return line.split(b':', 1)[0]


def directory_lines(found, taken):
    """Lines of the entries, without names in `taken`, and without entries that are no line."""
    lines = {}
    for fields in found:
        name = fields[0]
        if name and name not in taken and not any(b':' in field or b'\n' in field for field in fields):
            lines.setdefault(name, b':'.join(fields))
    return list(lines.values())


def write(path, lines):
    """Replaces the file, if it differs. Returns whether it did."""
    content = b''.join(line + b'\n' for line in lines)
    if os.path.exists(path):
        with open(path, 'rb') as file:
            if file.read() == content:
                return False
    with open(f'{path}.new', 'wb') as file:
        file.write(content)
    os.replace(f'{path}.new', path)
    return True


class Copy:
    def __init__(self, service, folder, output, image='/etc'):
        self.service = service
        self.folder = folder
        self.output = output
        self.image = image
        self.found = {}    # lines of the directory, by kind
        self.error = None  # that was told
        self.lock = threading.Lock()  # of the files

    def say(self, text):
        print(f'slurm-users: {text}', file=sys.stderr, flush=True)

    def ask(self):
        """Asks the directory; returns whether it told all."""
        found = {}
        try:
            for kind in KINDS:
                taken = {name_of(line) for path in (self.image, self.folder) for line in read_lines(f'{path}/{kind}')}
                found[kind] = directory_lines(entries(self.service, kind), taken)
            if not found['passwd']:
                raise Unavailable('it has no users')
        except Unavailable as error:
            if str(error) != self.error:
                self.say(f'{self.service}: {error}. What is known of it stays.')
            self.error = str(error)
            return False
        self.error = None
        self.found = found
        return True

    def write(self):
        """Writes what is known."""
        changed = False
        for kind in ('group', 'passwd'):  # the last one tells that both are there
            lines = read_lines(f'{self.folder}/{kind}') + self.found.get(kind, [])
            changed |= write(f'{self.output}/{kind}', lines)
        if changed:
            self.say(', '.join(f'{len(self.found.get(kind, []))} {what} of {self.service}'
                               for kind, what in (('passwd', 'users'), ('group', 'groups'))))

    def step(self):
        """Copies once. Returns whether the directory told all."""
        told = self.ask()
        if self.found:  # what a former container wrote is better than FOLDER's lines alone
            with self.lock:
                self.write()
        return told

    def begin(self):
        """Writes FOLDER's lines when there is no file yet. A thread of its own calls it: a directory may take long."""
        with self.lock:
            if not os.path.exists(f'{self.output}/passwd'):
                self.write()


def main():
    parser = argparse.ArgumentParser(prog='slurm-users', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--interval', type=int, default=60, metavar='SECONDS',
                        help='between copies (default: %(default)s)')
    parser.add_argument('service', metavar='SERVICE')
    parser.add_argument('folder', metavar='FOLDER')
    parser.add_argument('output', metavar='OUTPUT')
    arguments = parser.parse_args()
    copy = Copy(arguments.service, arguments.folder, arguments.output)
    timer = threading.Timer(START_SECONDS, copy.begin)
    timer.daemon = True
    timer.start()
    while True:
        time.sleep(arguments.interval if copy.step() else RETRY_SECONDS)


if __name__ == '__main__':
    main()
