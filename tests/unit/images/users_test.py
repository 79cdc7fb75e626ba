#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""images/login/users.py: what it copies of a service of NSS, and what stays when that tells only a part. Prints TAP."""
import contextlib
import ctypes
import grp
import os
import pwd
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../support'))
import tap

users = tap.load('images/login/users.py')

# A service that tells an entry, one that needs a buffer of more than 1 MiB, and then that it cannot tell more.
HALF = '''
#include <errno.h>
#include <nss.h>
#include <pwd.h>
static int count;
enum nss_status _nss_half_setpwent(int stays) { count = 0; return NSS_STATUS_SUCCESS; }
enum nss_status _nss_half_endpwent(void) { return NSS_STATUS_SUCCESS; }
enum nss_status _nss_half_getpwent_r(struct passwd *user, char *buffer, size_t size, int *error) {
  if (count == 1 && size <= 1 << 20) { *error = ERANGE; return NSS_STATUS_TRYAGAIN; }
  if (count == 2) { *error = ENOENT; return NSS_STATUS_UNAVAIL; }
  *user = (struct passwd){count ? "second" : "first", "", 2000 + count, 3000, "a:b", "/home", "/bin/sh"};
  ++count;
  return NSS_STATUS_SUCCESS;
}
'''


class Entries(unittest.TestCase):
    def test_those_of_this_machine(self):
        expected = [[user.pw_name, str(user.pw_uid), str(user.pw_gid), user.pw_dir, user.pw_shell]
                    for user in pwd.getpwall()]
        found = [[field.decode() for field in fields] for fields in users.entries('files', 'passwd')]
        self.assertGreater(len(found), 1)
        self.assertEqual([[found[i] for i in (0, 2, 3, 5, 6)] for found in found], expected)
        expected = [[group.gr_name, str(group.gr_gid), ','.join(group.gr_mem)] for group in grp.getgrall()]
        found = [[field.decode() for field in fields] for fields in users.entries('files', 'group')]
        self.assertEqual([[found[i] for i in (0, 2, 3)] for found in found], expected)

    def test_a_service_that_is_not_there(self):
        with self.assertRaisesRegex(users.Unavailable, 'libnss_none'):
            next(users.entries('none', 'passwd'))

    def test_a_service_that_tells_a_part(self):
        load = ctypes.CDLL
        with tempfile.TemporaryDirectory() as folder:
            library = f'{folder}/libnss_half.so'
            subprocess.run(['cc', '-shared', '-fPIC', '-x', 'c', '-o', library, '-'], input=HALF, text=True, check=True)
            with mock.patch.object(users.ctypes, 'CDLL', lambda _: load(library)):
                found = []
                with self.assertRaisesRegex(users.Unavailable, 'No such file'):
                    for fields in users.entries('half', 'passwd'):
                        found.append(fields[0])
        self.assertEqual(found, [b'first', b'second'])


class Lines(unittest.TestCase):
    def test_table(self):
        ada, other = [b'ada', b'x', b'2001'], [b'ada', b'x', b'2002']
        for what, entries, expected in (
                ('an entry', [ada], [b'ada:x:2001']),
                ('the first one of a name counts', [ada, other], [b'ada:x:2001']),
                ("a name of the image, or of the site's own files", [[b'root', b'x', b'5000'], ada], [b'ada:x:2001']),
                ('no name', [[b'', b'x', b'1']], []),
                ('a colon in a field', [[b'bob', b'x', b'1:2'], ada], [b'ada:x:2001']),
                ('a line in a field', [[b'bob', b'x', b'1\nroot:x:0'], ada], [b'ada:x:2001'])):
            with self.subTest(what):
                self.assertEqual(users.directory_lines(entries, {b'root'}), expected)

    def test_gecos_is_free_text(self):
        entry = users.Passwd(b'ada', b'secret', 2001, 2001, b'Ada: Lovelace\nroot', b'/home/ada', None)
        self.assertEqual(b':'.join(entry.fields()), b'ada:x:2001:2001:Ada  Lovelace root:/home/ada:')


class Copies(unittest.TestCase):
    """`directory`: lists of fields by kind; an exception in one is raised there."""
    USER, GROUP = [b'grace', b'x', b'5001', b'5001', b'', b'/home/grace', b''], [b'navy', b'x', b'5100', b'grace']

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.paths = {name: f'{folder}/{name}' for name in ('own', 'output', 'image')}
        for path in self.paths.values():
            os.mkdir(path)
        self.put('image', 'passwd', b'root:x:0:0::/root:/bin/sh\n')
        self.directory = {'passwd': [self.USER], 'group': [self.GROUP]}
        self.enterContext(mock.patch.object(users, 'entries', lambda service, kind: self.tell(kind)))
        self.copy = self.new()

    def new(self):
        copy = users.Copy('ldap', self.paths['own'], self.paths['output'], self.paths['image'])
        copy.say = lambda text: self.said.append(text)
        self.said = []
        return copy

    def tell(self, kind):
        for entry in self.directory[kind]:
            if isinstance(entry, Exception):
                raise entry
            yield entry

    def put(self, where, kind, text):
        with open(f'{self.paths[where]}/{kind}', 'wb') as file:
            file.write(text)

    def output(self, kind='passwd'):
        with contextlib.suppress(FileNotFoundError), open(f"{self.paths['output']}/{kind}", 'rb') as file:
            return file.read()
        return None

    def test_own_lines_are_first_and_each_line_ends(self):
        self.put('own', 'passwd', b'ada:x:2001:2001::/home/ada:/bin/sh')
        self.assertTrue(self.copy.step())
        self.assertEqual(self.output(), b'ada:x:2001:2001::/home/ada:/bin/sh\ngrace:x:5001:5001::/home/grace:\n')
        self.assertEqual(self.output('group'), b'navy:x:5100:grace\n')
        self.assertEqual(self.said, ['1 users of ldap, 1 groups of ldap'])

    def test_nothing_is_written_where_nothing_changed(self):
        self.copy.step()
        before = os.stat(f"{self.paths['output']}/passwd").st_ino
        self.copy.step()
        self.assertEqual(os.stat(f"{self.paths['output']}/passwd").st_ino, before)
        self.assertEqual(len(self.said), 1)

    def test_what_a_directory_tells_in_part_changes_nothing(self):
        self.copy.step()
        before = self.output()
        for what, kind, entries in (('it is away', 'passwd', [users.Unavailable('away')]),
                                    ('it ends between two users', 'passwd', [self.USER, users.Unavailable('away')]),
                                    ('it ends among the groups', 'group', [users.Unavailable('away')]),
                                    ('it has no users', 'passwd', [])):
            with self.subTest(what):
                self.directory = {'passwd': [[b'eve', b'x', b'2', b'2', b'', b'', b'']], 'group': [], kind: entries}
                self.assertFalse(self.copy.step())
                self.assertEqual(self.output(), before)

    def test_own_lines_change_while_the_directory_is_away(self):
        self.copy.step()
        self.directory['passwd'] = [users.Unavailable('away')]
        self.put('own', 'passwd', b'bob:x:2002:2002::/:\n')
        self.copy.step()
        self.assertEqual(self.output(), b'bob:x:2002:2002::/:\ngrace:x:5001:5001::/home/grace:\n')

    def test_an_error_is_told_once(self):
        self.directory['passwd'] = [users.Unavailable('away')]
        self.copy.step()
        self.copy.step()
        self.assertEqual(self.said, ['ldap: away. What is known of it stays.'])
        self.directory['passwd'] = [self.USER]
        self.copy.step()
        self.directory['passwd'] = [users.Unavailable('away')]
        self.copy.step()
        self.assertEqual(len(self.said), 3)

    def test_a_start_without_the_directory(self):
        self.put('own', 'passwd', b'ada:x:2001:2001::/:\n')
        self.directory['passwd'] = [users.Unavailable('away')]
        self.copy.step()
        self.assertIsNone(self.output())
        self.copy.begin()
        self.assertEqual(self.output(), b'ada:x:2001:2001::/:\n')

    def test_what_a_former_container_wrote_stays(self):
        self.copy.step()
        before = self.output()
        self.directory['passwd'] = [users.Unavailable('away')]
        self.copy = self.new()
        self.copy.step()
        self.copy.begin()
        self.assertEqual(self.output(), before)


if __name__ == '__main__':
    sys.exit(tap.main())
