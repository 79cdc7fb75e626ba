# SPDX-License-Identifier: GPL-2.0-or-later
"""unittest that prints TAP, as automake's test driver reads it; and programs without the suffix .py as modules."""
import importlib.machinery
import importlib.util
import os
import sys
import unittest

TOP = os.environ.get('TOP_SRCDIR') or os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')


def load(path):
    """The module in a file, by its path from the top."""
    name = os.path.basename(path).removesuffix('.py')
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(TOP, path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class Tap(unittest.TestResult):
    """Prints each test as it ends, with its failures as comments below."""
    faults = 0

    def startTest(self, test):
        super().startTest(test)
        self.faults = len(self.failures) + len(self.errors)

    def stopTest(self, test):
        faults = (self.failures + self.errors)[self.faults:]
        name = test.id().removeprefix('__main__.')
        print(f'{"not ok" if faults else "ok"} {self.testsRun} - {name}')
        for _, text in faults:
            print('# ' + text.rstrip().replace('\n', '\n# '))
        sys.stdout.flush()
        super().stopTest(test)


def main():
    """Runs the tests of the main program, and returns its exit code."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules['__main__'])
    print(f'1..{suite.countTestCases()}')
    result = Tap()
    suite.run(result)
    return 0 if result.wasSuccessful() else 1
