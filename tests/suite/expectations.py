# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests/suite/expected says of each test of Slurm's suite, or expected_accounting, and whether a result is that."""
import collections
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
NEEDS_ACCOUNTING = 'Needs accounting.'  # a reason in expected; these tests are those of --accounting
USERS = ('slurm', 'user')
KINDS = ('demand', 'plain', 'always')
RESULTS = ('pass', 'fail', 'skip')
# "vary": each of them, from run to run. "slow": passes, but takes minutes, so that no part of the suite has it.
WORDS = (*RESULTS, 'vary', 'slow')
HEAD = re.compile(r'(any|slurm|user) (\w+) (\w+)(?: (\w+))?: (\S.*)')
TEST = re.compile(r'test(_\d+_\d+|\d+\.\d+)')
SAID = {'pass': 'passes', 'fail': 'fails', 'skip': 'skips itself', 'vary': 'fails at times', 'slow': 'takes minutes'}

# `words` has the expected result on demand, on plain Slurm, and with nodes that are always up: as on plain Slurm where the
# file does not say.
Expectation = collections.namedtuple('Expectation', 'words reason')
DEFAULT = Expectation(('pass',) * len(KINDS), '')


class Wrong(Exception):
    """What is wrong in the file."""


def parse(text):
    """{(user, test): Expectation}, of what does not pass everywhere.

    >>> known = parse('# A comment\\nany fail fail: No such file.\\n  test1.1 test_101_1\\nuser skip pass: No.\\n  test1.2\\n')
    >>> sorted(known)
    [('slurm', 'test1.1'), ('slurm', 'test_101_1'), ('user', 'test1.1'), ('user', 'test1.2'), ('user', 'test_101_1')]
    >>> known['user', 'test1.2']
    Expectation(words=('skip', 'pass', 'pass'), reason='No.')
    >>> parse('slurm pass pass fail: No.\\n  test1.1\\n')
    {('slurm', 'test1.1'): Expectation(words=('pass', 'pass', 'fail'), reason='No.')}
    >>> parse('any pass pass: All is well.\\n  test1.1\\n')
    Traceback (most recent call last):
    expectations.Wrong: line 1: passes everywhere: needs no line
    >>> parse('any fail fail: One.\\n  test1.1\\nuser fail fail: Two.\\n  test1.1\\n')
    Traceback (most recent call last):
    expectations.Wrong: line 4: test1.1 twice for user
    >>> parse('any fail maybe: One.\\n  test1.1\\n')
    Traceback (most recent call last):
    expectations.Wrong: line 1: must be USER DEMAND PLAIN [ALWAYS]: REASON
    >>> parse('any fail fail: One.\\n  test1\\n')
    Traceback (most recent call last):
    expectations.Wrong: line 2: test1: no name of a test
    """
    known, users, expectation = {}, (), None
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith('#'):
            continue
        if not line.startswith(' '):
            match = HEAD.fullmatch(line)
            words = (match[2], match[3], match[4] or match[3]) if match else ()
            if not match or not set(words) <= set(WORDS):
                raise Wrong(f'line {number}: must be USER DEMAND PLAIN [ALWAYS]: REASON')
            if set(words) == {'pass'}:
                raise Wrong(f'line {number}: passes everywhere: needs no line')
            users = USERS if match[1] == 'any' else (match[1],)
            expectation = Expectation(words, match[5])
            continue
        for test in line.split():
            if not TEST.fullmatch(test) or not expectation:
                raise Wrong(f'line {number}: {test}: no name of a test')
            for user in users:
                if (user, test) in known:
                    raise Wrong(f'line {number}: {test} twice for {user}')
                known[user, test] = expectation
    return known


def read(name='expected'):
    """What the file of this name in tests/suite says. Raises Wrong."""
    try:
        return parse((FOLDER / name).read_text(encoding='utf-8'))
    except Wrong as error:
        raise Wrong(f'{name}: {error}') from None


def read_accounting():
    """The tests that need accounting, and what expected_accounting says of them. Raises Wrong."""
    tests = {test for (_, test), expectation in read().items() if expectation.reason == NEEDS_ACCOUNTING}
    known = read('expected_accounting')
    for _, test in known:
        if test not in tests:
            raise Wrong(f'expected_accounting: {test}: no test of expected, "{NEEDS_ACCOUNTING}"')
    return tests, known


def judge(expectation, kind, result):
    """Whether the result is the expected one, and what to say: nothing of a test that passes and must.

    >>> fails, varies = Expectation(('fail', 'pass'), 'No.'), Expectation(('vary', 'slow'), 'Races.')
    >>> judge(DEFAULT, 'demand', 'pass')
    (True, '')
    >>> judge(DEFAULT, 'demand', 'skip')
    (False, 'skips itself, must pass')
    >>> judge(fails, 'demand', 'fail')
    (True, 'fails: No.')
    >>> judge(fails, 'demand', 'pass')
    (False, 'passes; tests/suite/expected: fails: No.')
    >>> judge(fails, 'plain', 'fail')
    (False, 'fails; tests/suite/expected: passes: No.')
    >>> judge(varies, 'demand', 'fail'), judge(varies, 'demand', 'pass')
    ((True, 'fails at times: Races.'), (True, ''))
    >>> judge(varies, 'plain', 'pass'), judge(varies, 'plain', 'fail')
    ((True, ''), (False, 'fails; tests/suite/expected: takes minutes: Races.'))
    """
    word = expectation.words[KINDS.index(kind)]
    if result == 'pass' and word in ('pass', 'vary', 'slow'):
        return True, ''
    if word in (result, 'vary'):
        return True, f'{SAID[word]}: {expectation.reason}'
    if not expectation.reason:
        return False, f'{SAID[result]}, must pass'
    return False, f'{SAID[result]}; tests/suite/expected: {SAID[word]}: {expectation.reason}'


def may_pass(known, test, kind):
    """As SlurmUser."""
    return known.get(('slurm', test), DEFAULT).words[KINDS.index(kind)] not in ('fail', 'skip')


def is_slow(expectation, kind):
    return expectation.words[KINDS.index(kind)] == 'slow'
