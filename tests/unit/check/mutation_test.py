#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/mutation/run: when a patch is noticed, and what is left when there is no time. Builds nothing. Prints TAP."""
import contextlib
import io
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../support'))
import tap
sys.path.insert(0, os.path.join(tap.TOP, 'tests/mutation'))  # for what tests/mutation/run imports

mutation = tap.load('tests/mutation/run')
patches = mutation.patches
NAME = next(name for name in patches.names() if patches.read(name).kind == 'Test')


class FakeTree:
    """A build tree whose tests pass, with a patch and without it."""
    compiled = ()

    def compile(self, program):
        self.compiled += (program,)

    def results(self, _program):
        return {patches.read(NAME).test: 'PASS'}

    def read(self, source):
        return (patches.TREE / source).read_text(encoding='utf-8')

    def write(self, source, text):
        pass


class Mutation(unittest.TestCase):
    def take(self, seconds):
        """What is printed of a patch that no test notices; failures; what was built."""
        runs, tree, output = mutation.Runs([NAME], seconds), FakeTree(), io.StringIO()
        with contextlib.redirect_stdout(output):
            runs.take(1, NAME, tree, {})
        return output.getvalue(), runs.failed, len(tree.compiled)

    def test_after_the_seconds_no_patch_is_begun(self):
        self.assertEqual(self.take(0), (f'ok 1 - {NAME} # SKIP no time left: tests/mutation/run {NAME}\n', 0, 0))

    def test_a_patch_that_no_test_notices_fails(self):
        for seconds in (None, 1000):
            output, failed, built = self.take(seconds)
            self.assertTrue(output.startswith(f'not ok 1 - {NAME}: '), output)
            self.assertEqual((failed, built), (1, 2))

    def test_a_patch_is_noticed_when_its_test_is_reported_as_failed_alone(self):
        patch = patches.read(NAME)
        self.assertIsNone(mutation.verdict(patch, {patch.test: 'FAIL', 'another': 'PASS'}))
        for results in (None, {patch.test: 'PASS'}, {patch.test: 'PASS', 'another': 'FAIL'}, {'': 'ERROR'}):
            self.assertIsNotNone(mutation.verdict(patch, results), results)

    def test_a_test_for_another_slurm_is_skipped(self):
        for results, expected in (({'a': 'PASS'}, 'PASS'), ({'a': 'SKIP'}, 'SKIP'), ({'b': 'PASS'}, 'SKIP'),
                                  ({'b': 'PASS', '': 'ERROR'}, None), ({}, None)):
            self.assertEqual(mutation.result_of('a', results), expected, results)


if __name__ == '__main__':
    sys.exit(tap.main())
