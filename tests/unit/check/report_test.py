#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/report: what counts once, what fails, what is printed of it. Prints TAP."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../support'))
import tap

REPORT = os.path.join(tap.TOP, 'tests/report')


def report(**stages):
    """Exit code and lines for the TAP of each stage."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, text in stages.items():
            files.append(pathlib.Path(folder, f'{name}.tap'))
            files[-1].write_text(text, encoding='utf-8')
        done = subprocess.run([REPORT, *files], stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


class Counts(unittest.TestCase):
    def test_each_test_once_whatever_it_ran_under(self):
        for stages, expected in (
                ({'unit': 'ok 1 - a\nok 2 - b\n'}, '2 passed, 0 failed, 0 skipped'),
                ({'unit': 'ok 1 - a\n', 'sanitize': 'ok 7 - a\n', 'unit_images': 'ok 1 - a\n'},
                 '1 passed, 0 failed, 0 skipped'),
                ({'cluster': 'ok 1 - t1 a # 3 s\n', 'versions_forky': 'ok 9 - t1 a # 40 s\n'},
                 '1 passed, 0 failed, 0 skipped'),
                ({'unit': 'ok 1 - a\n', 'cluster': 'ok 1 - a\n'}, '2 passed, 0 failed, 0 skipped'),
                ({'unit': 'ok 1 - a\n', 'versions_forky-structs': 'ok 1 - a\n', 'versions_forky-upgrade': 'ok 1 - a\n'},
                 '2 passed, 0 failed, 0 skipped'),
                # Automake: PROGRAM NUMBER - NAME.
                ({'unit': 'ok 1 - x/y_test 1 - a\n', 'sanitize': 'ok 5 - x/y_test 3 - a\n'},
                 '1 passed, 0 failed, 0 skipped'),
                # Two of one name in one stage are two.
                ({'chart': 'ok 1 - a\nok 2 - a\n'}, '2 passed, 0 failed, 0 skipped')):
            with self.subTest(stages):
                self.assertEqual(report(**stages), (0, [expected]))

    def test_failed_when_one_of_its_runs_did(self):
        code, lines = report(unit='ok 1 - a\n', sanitize='not ok 1 - a\n# why\n# and where\nok 2 - b\n')
        self.assertEqual(code, 1)
        self.assertEqual(lines, ['not ok - a (sanitize)', '# why', '# and where', '1 passed, 1 failed, 0 skipped'])

    def test_skipped_when_all_of_its_runs_were(self):
        code, lines = report(cluster='ok 1 - a # SKIP needs more\nok 2 - b # skip needs more\n',
                             versions_forky='ok 1 - a\n')
        self.assertEqual((code, lines), (0, ['skipped: needs more:', '  b', '1 passed, 0 failed, 1 skipped']))

    def test_no_tests_and_no_files(self):
        self.assertEqual(report(unit=''), (0, ['0 passed, 0 failed, 0 skipped']))
        self.assertEqual(subprocess.run([REPORT], stderr=subprocess.DEVNULL, check=False).returncode, 2)


if __name__ == '__main__':
    sys.exit(tap.main())
