#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""images/slurmctld/config: which files a pod starts with, and what becomes of a request. Prints TAP."""
import os
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../support'))
import tap

sys.path.insert(0, os.path.join(tap.TOP, 'images/slurmctld/config'))
import answer
import controllers
import main
import removals
import sets
import trial


class Sets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        sets.LIVE = os.path.join(folder.name, 'live')
        sets.GOOD = os.path.join(folder.name, 'good')
        os.mkdir(sets.LIVE)

    def test_swap_replaces_all_files(self):
        for texts in ({'slurm.conf': 'a'}, {'slurm.conf': 'b', 'prolog.sh': '#!/bin/sh\n'}, {'slurm.conf': 'c'}):
            with self.subTest(texts):
                sets.swap(texts)
                self.assertEqual(sets.files(sets.LIVE), texts)

    def test_bytes_stay(self):
        source = os.path.join(os.path.dirname(sets.LIVE), 'source')
        wanted = {'prolog.sh': b'#!/bin/sh\r\n# \xe4\r', 'key': bytes(range(256))}
        os.mkdir(source)
        for name, content in wanted.items():
            with open(os.path.join(source, name), 'wb') as file:
                file.write(content)
        sets.swap(sets.files(source))
        controllers.keep()
        for folder in (sets.LIVE, sets.GOOD):
            for name, content in wanted.items():
                with self.subTest(f'{folder}/{name}'), open(os.path.join(folder, name), 'rb') as file:
                    self.assertEqual(file.read(), content)

    def test_scripts_are_executable(self):
        sets.swap({'prolog.sh': '#!/bin/sh\n', 'slurm.conf': 'a'})
        modes = {name: os.access(os.path.join(sets.LIVE, name), os.X_OK) for name in ('prolog.sh', 'slurm.conf')}
        self.assertEqual(modes, {'prolog.sh': True, 'slurm.conf': False})

    def test_the_last_good_set_is_kept_as_it_was(self):
        sets.swap({'slurm.conf': 'a'})
        controllers.keep()
        sets.swap({'slurm.conf': 'b'})
        self.assertEqual(sets.files(sets.GOOD), {'slurm.conf': 'a'})


class Start(unittest.TestCase):
    """Which files a pod starts with: the new ones N, or the last good ones G."""
    NEW, GOOD = {'slurm.conf': 'new'}, {'slurm.conf': 'good'}
    OTHER_TYPE = {'slurm.conf': 'good\n accountingstoragetype = accounting_storage/slurmdbd\n'}
    TABLE = (
        # files of the last good set, slurmctld has a state, the trial's error; what is live and good afterwards
        ('a first start', {}, False, '', NEW, NEW),
        ('a first start with broken files', {}, False, 'bad', None, {}),
        ('a state of slurmctld before there were trials', {}, True, '', NEW, NEW),
        ('the same with files that the trial refuses', {}, True, 'bad', NEW, NEW),
        ('other files', GOOD, True, '', NEW, GOOD),  # slurmctld has yet to start with them
        ('accounting begins', OTHER_TYPE, True, '', NEW, NEW),
        ('other files that are broken', GOOD, True, 'bad', GOOD, GOOD),
        ('broken files, and the state is lost', GOOD, False, 'bad', GOOD, GOOD),
        ('files that slurmctld ran with', NEW, True, 'not tried', NEW, NEW),
    )

    def test_table(self):
        for name, good, state, error, live, kept in self.TABLE:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder, \
                    mock.patch.multiple(sets, LIVE=f'{folder}/live', STATE=folder, GOOD=f'{folder}/good'), \
                    mock.patch.object(trial, 'try_set', lambda *_, error=error: error):
                os.mkdir(sets.LIVE)
                sets.write_set(f'{folder}/source', self.NEW)
                if good:
                    sets.write_set(sets.GOOD, good)
                if state:
                    sets.write(f'{folder}/clustername', 'slurm')
                if live is None:
                    with self.assertRaisesRegex(SystemExit, 'bad'):
                        main.start(f'{folder}/source')
                else:
                    main.start(f'{folder}/source')
                    self.assertEqual(sets.files(sets.LIVE), live)
                self.assertEqual(sets.files(sets.GOOD), kept)


class Removals(unittest.TestCase):
    """With what lines a pod starts that the new files lack."""
    GOOD = 'NodeName=n-1 CPUs=2\nNodeSet=gpu Feature=gpu\nPartitionName=DEFAULT MaxTime=1\nPartitionName=gpu Nodes=gpu\n'
    TABLE = (
        ('nothing is removed', GOOD + 'MaxJobCount=5\n', GOOD, ''),
        ('no last good set', 'A=1\n', None, ''),
        ('a partition and what it names', 'A=1\n', GOOD, 'NodeSet=gpu Feature=gpu\nNodeName=n-1 CPUs=2\nPartitionName=gpu Nodes=gpu\n'),
        ('a NodeSet alone', 'partitionname = gpu\nNodeName=n-1\n', GOOD, ''),
        ('a new name', GOOD.replace('PartitionName=gpu', 'PartitionName=b'), GOOD, 'PartitionName=gpu Nodes=gpu\n'),
        ('other settings of it', GOOD.replace('Nodes=gpu', 'Nodes=ALL'), GOOD, ''),
        ('a line that goes on', 'A=1\n', 'PartitionName=a \\\n Nodes=ALL\n', 'PartitionName=a   Nodes=ALL\n'),
        ('a comment', 'A=1\n', '#PartitionName=a\n', ''),
        ('of an included file', 'A=1\n', 'Include site.conf\n', 'PartitionName=site Nodes=ALL\n'),
    )

    def test_table(self):
        for name, new, good, lines in self.TABLE:
            with self.subTest(name):
                kept = {'slurm.conf': good, 'site.conf': 'PartitionName=site Nodes=ALL\n'} if good is not None else {}
                self.assertEqual(removals.with_removed({'slurm.conf': new, 'x': 'y'}, kept),
                                 {'slurm.conf': new + lines, 'x': 'y'})

    def test_start(self):
        new, good = {'slurm.conf': 'A=1\n'}, {'slurm.conf': 'PartitionName=a\n'}
        longer = {'slurm.conf': 'A=1\nPartitionName=a\n'}
        for name, errors, files, error in (
                ('the trial takes what is removed', {}, longer, ''),
                ('it does not', {longer['slurm.conf']: 'bad'}, new, ''),
                ('it takes neither', {longer['slurm.conf']: 'bad', 'A=1\n': 'worse'}, new, 'worse')):
            with self.subTest(name), \
                    mock.patch.object(trial, 'try_set', lambda texts, _: errors.get(texts['slurm.conf'], '')), \
                    mock.patch.object(controllers, 'unkept_error', lambda _: ''):
                self.assertEqual(main.try_start(new, good), (files, error))


class Restore(unittest.TestCase):
    def test_table(self):
        good = {'slurm.conf': 'good'}
        for name, kept, live, failed in (('a good set', good, good, False),
                                         ('none', {}, {'slurm.conf': 'live'}, True)):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder, \
                    mock.patch.multiple(sets, LIVE=f'{folder}/live', GOOD=f'{folder}/good'):
                os.mkdir(sets.LIVE)
                sets.swap({'slurm.conf': 'live'})
                if kept:
                    sets.write_set(sets.GOOD, kept)
                answer = main.do_request(folder, 'restore', '7')
                self.assertEqual(answer['behind'], [])
                self.assertEqual((answer['id'], bool(answer['error'])), ('7', failed))
                self.assertEqual(sets.files(sets.LIVE), live)


class Compare(unittest.TestCase):
    """A sidecar that starts asks whether slurmctld has taken what is live."""

    def test_steps(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.multiple(sets, LIVE=f'{folder}/live', GOOD=f'{folder}/good'):
            os.mkdir(sets.LIVE)
            for text, verb, error in (('a', 'compare', 'not kept'), ('a', 'keep', ''), ('a', 'compare', ''),
                                      ('b', 'compare', 'not kept'), ('b', 'restore', ''), (None, 'compare', '')):
                with self.subTest(f'{verb} with {text}'):
                    if text:
                        sets.swap({'slurm.conf': text})
                    self.assertEqual(main.do_request(folder, verb, '7'), {'id': '7', 'error': error, 'behind': []})


class Answer(unittest.TestCase):
    def test_which_counts(self):
        def pod(status, text):
            return {'status': status, 'message': text, 'reason': text}
        for name, conditions, counts in (
                ('none', [{}, {}], None),
                ('a former configuration', [pod('True', 'h1')], None),
                ('the only pod', [pod('False', 'h2')], 0),
                ('a pod without', [{}, pod('True', 'h2')], 1),
                ('one that was told later', [pod('False', 'h2'), pod('True', 'h2')], 1),
                ('a former one of the other', [pod('False', 'h2'), pod('True', 'h1')], 0)):
            with self.subTest(name):
                self.assertIs(answer.answer_of(conditions, 'h2'), None if counts is None else conditions[counts])


if __name__ == '__main__':
    sys.exit(tap.main())
