#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""images/slurmctld/config/controllers.py: what two controllers tell each other. Prints TAP."""
import contextlib
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../support'))
import tap

sys.path.insert(0, os.path.join(tap.TOP, 'images/slurmctld/config'))
import controllers
import main
import sets
import trial


class TwoControllers(unittest.TestCase):
    """Controllers a and b share a state. Files are 'SlurmctldHost=a, SlurmctldHost=b, X=TEXT'."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.seconds = 0  # of the shared volume
        self.away = []  # hosts without a slurmctld that listens
        self.flickers = []  # those whose slurmctld ends again and again

    def listens(self, name, _):
        if name in self.flickers:
            self.away = self.away or [name]
            self.flickers = []
            return True
        return name not in self.away

    def on(self, host):
        """What runs on this controller."""
        live = f'{self.folder}/live-{host}'
        os.makedirs(live, exist_ok=True)
        stack = contextlib.ExitStack()
        stack.enter_context(mock.patch.multiple(sets, LIVE=live, STATE=self.folder, GOOD=f'{self.folder}/good'))
        stack.enter_context(mock.patch.multiple(controllers, UNKEPT=f'{self.folder}/unkept',
                                                STARTED_WITH=f'{self.folder}/started', listens=self.listens))
        stack.enter_context(mock.patch.object(trial, 'try_set', lambda *_: ''))
        stack.enter_context(mock.patch.object(controllers.time, 'sleep', lambda _: None))
        stack.enter_context(mock.patch.object(os, 'uname', lambda: types.SimpleNamespace(nodename=host + '.domain')))
        stack.enter_context(mock.patch.dict(os.environ, POD_UID=f'uid-of-{host}'))
        return stack

    @staticmethod
    def texts(text):
        return {'slurm.conf': f'SlurmctldHost=a\n slurmctldhost = b(10.0.0.1)\n#SlurmctldHost=c\nX={text}'}

    def tick(self, path):
        """What is written at one moment is older than what is written at the next, whatever the file system counts."""
        self.seconds += 1
        if os.path.exists(path):
            os.utime(path, (self.seconds, self.seconds))

    def start(self, host, text):
        sets.write_set(f'{self.folder}/source', self.texts(text))
        with self.on(host):
            main.start(f'{self.folder}/source')
        self.tick(f'{self.folder}/started/{host}')

    def ask(self, host, verb, text=None):
        """The answer's error, and the pods that are behind."""
        if text:
            sets.write_set(f'{self.folder}/sets/7', self.texts(text))
        before = sets.files(f'{self.folder}/good')
        with self.on(host):
            answer = main.do_request(self.folder, verb, '7')
        if sets.files(f'{self.folder}/good') != before:
            self.tick(f'{self.folder}/good')
        if verb == 'keep':
            self.tick(f'{self.folder}/started/{host}')
        return answer['error'], answer['behind']

    def files(self, name):
        return sets.files(f'{self.folder}/{name}').get('slurm.conf', '')[-1:]

    def begin(self):
        self.start('a', '1')
        self.tick(f'{self.folder}/good')
        self.tick(f'{self.folder}/started/a')
        self.start('b', '1')

    def test_the_other_is_behind(self):
        self.begin()
        self.assertEqual(self.ask('a', 'compare'), ('', []))
        self.assertEqual(self.ask('a', 'install', '2'), ('', []))
        self.assertEqual(self.ask('a', 'compare'), ('not kept', []))
        behind = [{'pod': 'b', 'uid': 'uid-of-b'}]
        self.assertEqual(self.ask('a', 'keep'), ('', behind))
        self.assertEqual(self.ask('a', 'compare'), ('', behind))  # a sidecar that starts hears it again
        self.start('b', '2')
        self.assertEqual(self.ask('a', 'compare'), ('', []))

    def test_one_that_chose_other_files_later(self):
        """A changed setting needs a restart: Kubernetes updates b first, or b has restarted by itself."""
        self.begin()
        self.start('b', '2')
        self.assertEqual(self.ask('a', 'compare'), ('', []))
        self.start('a', '2')
        self.assertEqual(self.ask('a', 'keep'), ('', []))

    def test_nothing_is_known_of_one_that_starts(self):
        self.begin()
        self.ask('a', 'install', '2')
        self.ask('a', 'keep')
        with self.on('b'), mock.patch.object(trial, 'try_set', side_effect=KeyboardInterrupt), \
                self.assertRaises(KeyboardInterrupt):
            sets.write_set(f'{self.folder}/source', self.texts('3'))
            main.start(f'{self.folder}/source')
        self.assertEqual(self.ask('a', 'compare'), ('', []))

    def test_one_that_takes_over_with_older_files(self):
        """Before its pod could be made again: what the other one kept stays good."""
        self.begin()
        self.ask('a', 'install', '2')
        self.ask('a', 'keep')
        self.assertEqual(self.ask('b', 'compare'), ('not kept', []))  # by slurmctld, which has yet to read it
        self.assertEqual((self.files('live-b'), self.files('good')), ('2', '2'))
        self.assertEqual(self.ask('b', 'keep'), ('', []))

    def test_the_other_takes_what_was_only_not_kept(self):
        """Control went back before a sidecar could ask for it."""
        self.begin()
        self.ask('a', 'install', '2')
        self.assertEqual(self.ask('b', 'install', '2'), ('', []))

    def test_the_same_after_a_start_of_the_pod(self):
        self.begin()
        self.ask('a', 'install', '2')
        self.away = ['a']
        self.start('a', '2')
        self.assertEqual(self.files('live-a'), '2')

    def test_neither_takes_again_what_slurmctld_ended_of(self):
        self.begin()
        self.ask('a', 'install', '2')
        self.flickers = ['a']
        self.assertIn('has not started with it', self.ask('b', 'install', '2')[0])
        self.assertIn('has not started with it', self.ask('b', 'install', '2')[0])
        self.assertIn('has not started with it', self.ask('b', 'check', '2')[0])
        self.start('b', '2')
        self.assertEqual(self.files('live-b'), '1')
        self.assertEqual(self.ask('b', 'install', '3'), ('', []))
        self.assertEqual(self.ask('b', 'keep')[0], '')
        self.start('b', '4')  # by a new pod, for a setting that needs a restart
        self.assertEqual(self.ask('b', 'keep')[0], '')
        self.assertEqual(self.ask('b', 'install', '3'), ('', []))

    def test_kept_files_come_back_by_themselves(self):
        self.begin()
        self.ask('a', 'install', '2')
        with self.on('a'):
            unkept = controllers.Unkept()
            unkept.limit = controllers.UNKEPT_SECONDS
            for now, live in ((0, '2'), (80, '2'), (100, '1')):
                self.away = ['127.0.0.1'] if now == 80 else []
                unkept.look(now)
                self.assertEqual(self.files('live-a'), live)
        self.assertIn('has not started with it', self.ask('a', 'install', '2')[0])
        self.ask('a', 'install', '5')
        with self.on('a'):
            unkept.look(110)
            unkept.look(190)
            unkept.look(201)  # all the time there was a slurmctld
            self.assertEqual(self.files('live-a'), '1')
        self.assertEqual(self.ask('a', 'install', '5'), ('', []))
        self.ask('a', 'restore')
        self.assertIn('has not started with it', self.ask('b', 'install', '5')[0])
        self.ask('a', 'install', '3')
        with self.on('a'):
            unkept.look(210)
        self.ask('a', 'keep')
        with self.on('a'):
            unkept.look(1000)
            self.assertEqual(self.files('live-a'), '3')

    def test_one_controller_keeps_nothing_of_the_kind(self):
        with self.on('a'):
            sets.write_set(f'{self.folder}/source', {'slurm.conf': 'SlurmctldHost=a(b)'})
            main.start(f'{self.folder}/source')
            sets.write_set(f'{self.folder}/sets/7', {'slurm.conf': 'SlurmctldHost=a(b)\nX=2'})
            main.do_request(self.folder, 'install', '7')
            unkept = controllers.Unkept()
            unkept.look(0)
            unkept.look(1000)
            self.assertEqual(self.files('live-a'), '2')
            self.assertEqual(sorted(os.listdir(self.folder)), ['good', 'live-a', 'sets', 'source'])

    def test_a_full_volume_is_no_reason_not_to_start(self):
        self.begin()
        with mock.patch.object(sets, 'replace', side_effect=OSError(28, 'No space left on device')):
            self.start('b', '1')
        self.assertEqual(self.files('live-b'), '1')

    def test_two_begin_at_once(self):
        sets.write_set(f'{self.folder}/good-b.new', self.texts('1'))  # of b, which is about to rename it
        self.start('a', '1')
        self.assertEqual(self.files('good-b.new'), '1')


if __name__ == '__main__':
    sys.exit(tap.main())
