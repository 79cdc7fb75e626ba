#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/rota: every part has its days, a first run has only few, and what ran is kept. Prints TAP."""
import datetime
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../support'))
import tap
sys.path.insert(0, os.path.join(tap.TOP, 'tests/mutation'))  # for what tests/mutation/run imports

PROGRAM = os.path.join(tap.TOP, 'tests/rota')
rota = tap.load('tests/rota')
BEGIN = datetime.date(2026, 11, 1)


class Rota(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.cache = pathlib.Path(self.folder.name, 'cache')

    def tearDown(self):
        self.folder.cleanup()

    def rota(self, *words):
        environment = os.environ | {'SLURM_K8S_CACHE': str(self.cache)}
        done = subprocess.run([PROGRAM, *words], env=environment, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.splitlines()

    def test_each_part_is_due_once_in_a_cycle(self):
        for cycle in rota.CYCLES:
            days = [rota.due(BEGIN + datetime.timedelta(day)) for day in range(len(cycle))]
            for part in [part for day in cycle for part in day]:
                with self.subTest(part):
                    self.assertEqual(sum(part in day for day in days), 1)

    def test_stage_vm_has_each_file_in_turn(self):
        tests = sorted(f'tests/vm/{path.name}' for path in pathlib.Path(tap.TOP, 'tests/vm').glob('t*.sh'))
        self.assertTrue(tests)
        days = [BEGIN + datetime.timedelta(day) for day in range(1000)]
        turns = [rota.vm_file(day) for day in days if 'vm' in rota.due(day)]
        self.assertEqual(sorted(turns[:len(tests)]), tests)
        self.assertEqual(self.rota('vm', str(days[0])), [rota.vm_file(days[0])])

    def test_a_first_run_has_the_days_of_first(self):
        firsts = {part for day in rota.FIRST for part in day}
        days = [set(self.rota('stages', str(BEGIN + datetime.timedelta(day)))) for day in range(len(rota.FIRST))]
        for stages in days:
            self.assertIn(sorted(stages), rota.FIRST)
        self.assertEqual(set.union(*days), firsts)
        never = {'leak', 'bench', 'release', 'versions_bookworm', 'versions_forky', 'vm'}  # as testing.md says
        self.assertEqual({part for part in rota.PARTS if '/' not in part} - firsts, never)
        self.rota('ran', 'soak')
        later = {part for day in range(max(map(len, rota.CYCLES))) for part in self.rota('stages', str(BEGIN + datetime.timedelta(day)))}
        self.assertEqual(later, {part for part in rota.PARTS if '/' not in part})

    def test_first_runs_have_each_part_of_mutation_and_suite(self):
        mutation = tap.load('tests/mutation/run')
        for stage in ('mutation', 'suite'):
            turns = [BEGIN + datetime.timedelta(day) for day in range(len(rota.FIRST) * mutation.DAYS)]
            parts = {day.toordinal() % mutation.DAYS for day in turns if stage in rota.due(day, [rota.FIRST])}
            self.assertEqual(parts, set(range(mutation.DAYS)), stage)

    def test_what_ran_is_kept(self):
        self.rota('ran', 'soak', 'alone/pods', 'no such part')
        self.rota('ran', 'bench')
        lines = (self.cache / 'rota').read_text(encoding='utf-8').splitlines()
        self.assertEqual([line.split()[0] for line in lines], ['alone/pods', 'bench', 'soak'])
        report = self.rota('report')
        self.assertEqual(len(report), len(rota.PARTS))
        self.assertEqual(sum('never here' not in line for line in report), 3)

    def test_files_that_need_the_bed_alone_are_there(self):
        tests = pathlib.Path(tap.TOP, 'tests')
        for name in self.rota('all')[0].split(','):
            with self.subTest(name):
                files = [path for folder in ('e2e', 'e2e/long', 'faults') for path in tests.glob(f'{folder}/{name}.sh')]
                self.assertEqual(sum('\n# Alone: ' in path.read_text(encoding='utf-8') for path in files), 1)

    def test_files_that_run_beside_others_are_there(self):
        tests = pathlib.Path(tap.TOP, 'tests')
        parts = [part for part in rota.PARTS if part.startswith('beside/')]
        self.assertTrue(parts)
        for part in parts:
            name = part.removeprefix('beside/')
            with self.subTest(name):
                files = [path for folder in ('e2e', 'e2e/long', 'faults', 'hostile') for path in tests.glob(f'{folder}/{name}.sh')]
                self.assertEqual(len(files), 1)
                self.assertNotIn('\n# Alone: all', files[0].read_text(encoding='utf-8'))

    def test_what_runs_beside_others_is_skipped_or_due(self):
        parts = {part for part in rota.PARTS if part.startswith('beside/')}
        for day in [BEGIN + datetime.timedelta(day) for day in range(3)]:
            skipped = {f'beside/{name}' for name in self.rota('skip', str(day))[0].split(',')}
            self.assertEqual(skipped, parts - set(rota.due(day)))


if __name__ == '__main__':
    sys.exit(tap.main())
