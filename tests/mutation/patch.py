# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches of tests/mutation/patches: what they say, and how they are applied."""
import collections
import pathlib
import re

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
PATCHES = TREE / 'tests' / 'mutation' / 'patches'
PAGE = 'docs/developer/testing.md, Mutations'
# Folders of the product's sources, in the order in which they are built.
SUBDIRS = re.search(r'(?m)^SUBDIRS = (.*)$', (TREE / 'Makefile.am').read_text(encoding='utf-8')).group(1).split()
FOLDERS = [folder for folder in SUBDIRS if folder not in ('docs', 'tests')]

# `kind` is Test, cluster or Survives; with the last `test` is the reason. `old` are the lines that the diff shows, without
# the one that it adds: `added`, or None. `at` is the place in `old` of the line that goes.
Patch = collections.namedtuple('Patch', 'name source behaviour kind program test old at added')


class Wrong(Exception):
    """A patch that cannot be used, and what to do."""


def names():
    return sorted(path.stem for path in PATCHES.glob('*.patch'))


def read(name):
    """Lines "Behaviour: …" and "Test: PROGRAM NAME", "Test: cluster FILE NAME" or "Survives: …", then a unified diff."""
    header, _, diff = (PATCHES / f'{name}.patch').read_text(encoding='utf-8').partition('\n--- ')
    fields = dict(re.findall(r'(?m)^(\w+): (.*)$', header))
    kind = next((kind for kind in ('Test', 'Survives') if kind in fields), None)
    if not fields.get('Behaviour') or not kind:
        raise Wrong('its header must have Behaviour: and Test: or Survives:')
    match = re.match(r'a/\S+\n\+\+\+ b/(\S+)\n@@[^\n]*\n(.*)', diff, re.DOTALL)
    lines = match.group(2).splitlines() if match else []
    signs = ''.join(line[:1] or ' ' for line in lines)
    if not re.fullmatch(r' *-\+? *', signs):
        raise Wrong('its diff must have one hunk, which changes or deletes one line')
    program, _, test = fields[kind].partition(' ')
    if program == 'cluster':
        kind = program
        program, _, test = test.partition(' ')
    if kind == 'Survives':
        program, test = '', fields[kind]
    added = lines[signs.index('+')][1:] if '+' in signs else None
    old = [line[1:] for line, sign in zip(lines, signs) if sign != '+']
    return Patch(name, match.group(1), fields['Behaviour'], kind, program, test, old, signs.index('-'), added)


def apply(patch, text):
    """
    The text with the patch. Lines that the diff shows and that have changed since are passed over, as long as there is
    one place for the others.
    """
    lines = text.split('\n')
    goes = patch.old[patch.at]
    behind = len(patch.old) - patch.at - 1
    for context in range(max(patch.at, behind), -1, -1):
        before = min(context, patch.at)
        shown = patch.old[patch.at - before:patch.at + 1 + min(context, behind)]
        places = [i for i in range(len(lines) - len(shown) + 1) if lines[i:i + len(shown)] == shown]
        if len(places) > 1:
            raise Wrong(f'{patch.source} has the line "{goes.strip()}" {len(places)} times: write the patch again ({PAGE})')
        if places:
            at = places[0] + before
            return '\n'.join(lines[:at] + ([] if patch.added is None else [patch.added]) + lines[at + 1:])
    raise Wrong(f'{patch.source} has no line "{goes.strip()}" any more: make the same mistake in what has taken its place, '
                f'and write the patch again; or delete the patch if the behaviour is gone ({PAGE})')


def check(patch):
    """Raises Wrong unless the patch fits the tree and its test is there."""
    source = TREE / patch.source
    if patch.source.split('/')[0] not in FOLDERS or not source.is_file():
        raise Wrong(f'{patch.source} is not a source of the product')
    apply(patch, source.read_text(encoding='utf-8'))
    if patch.kind == 'Survives':
        return
    files = [TREE / patch.program] if patch.kind == 'cluster' else files_of(patch.program)
    if not files or not files[0].is_file():
        raise Wrong(f'{patch.program} is not there')
    name = re.escape(patch.test)
    pattern = rf'\w*(TEST|test)\w*\(\s*{name}\s*[,)]' if files[0].suffix == '.cc' else rf'(?m)^{name}\(\)|"{name}"'
    if not patch.test or not any(re.search(pattern, file.read_text(encoding='utf-8')) for file in files):
        raise Wrong(f'{patch.program} has no test "{patch.test}"')


def files_of(program):
    """Where the tests of a program of `make check` are: one file, but those of the contract, which share theirs."""
    if program.endswith('_on_fake.sh'):
        return sorted((TREE / 'tests' / program).parent.glob('*.cc'))
    return [TREE / 'tests' / (program if program.endswith('.sh') else f'{program}.cc')]
