#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps /etc/slurm: only files with which a slurmctld has started get there.

usage: slurmctld-config start FOLDER  before slurmctld starts: installs FOLDER's files, or the last good ones
       slurmctld-config serve FOLDER  does what the sidecar asks for in FOLDER, for ever
       slurmctld-config await HASH    waits until the controller's pod tells what became of this configuration

serve: the sidecar puts a set of files into FOLDER/sets/ID and writes a line to the pipe FOLDER/requests. The answer
replaces the file FOLDER/answer: {"id", "error", "behind"}, with an empty error when all is well. "behind" has pods of
other controllers that started, with other files, before the last good ones were kept: [{"pod", "uid"}].

  check ID    tries the set; when the trial fails the error says why
  install ID  the same, and swaps the set into /etc/slurm
  restore ID  swaps the last good set back
  keep ID     what is in /etc/slurm is good: slurmctld runs with it
  compare ID  the error is "not kept" unless what is in /etc/slurm is the last good set
"""
import json
import os
import select
import signal
import subprocess
import sys
import time

import answer
import controllers
import removals
import sets
import trial

LOOK_SECONDS = 5


def accounting_type(texts):
    """AccountingStorageType of slurm.conf, in lower case; empty: none."""
    return sets.setting(texts.get('slurm.conf', ''), 'AccountingStorageType').lower()


def try_start(texts, good):
    """The files to start with, and why slurmctld does not start with them."""
    error = (good and controllers.unkept_error(texts)) or ''
    if error:
        return texts, error
    longer = removals.with_removed(texts, good)
    error = trial.try_set(longer, good)
    if longer != texts and error:
        print(f'slurmctld-config: {error}: starting without what is removed', file=sys.stderr)
        return texts, trial.try_set(texts, good)
    if longer != texts:
        print('slurmctld-config: what is removed stays until slurmctld can be asked for its jobs', file=sys.stderr)
    return longer, error


def start(source):
    """Before slurmctld starts. A set that it ran with last needs no trial."""
    texts, good = sets.files(source), sets.good_files()
    if controllers.is_shared(texts):
        controllers.forget_start()
    error = ''
    if texts != good:
        texts, error = try_start(texts, good)
    if error and not good and not os.path.exists(os.path.join(sets.STATE, 'clustername')):
        sys.exit(f'slurmctld-config: {error}')
    if error:
        # A state without a good set: slurmctld ran before there were trials, perhaps with files that a trial refuses.
        action = 'keeping the previous configuration' if good else 'no previous configuration, starting with it'
        print(f'slurmctld-config: {error}: {action}', file=sys.stderr)
    sets.swap(good if error and good else texts)
    # Of others the sidecar says that they are good, once slurmctld has started with them (ConfigPusher). Where accounting
    # begins, slurmctld's entrypoint first waits for slurmdbd, however long that takes.
    if not good or accounting_type(texts) != accounting_type(good):
        # Also what slurmctld may only have run with: a refused change must have something to go back to.
        controllers.keep()
    elif controllers.is_shared(texts):
        try:
            controllers.note_start()
        except OSError as no_note:  # a full volume is no reason not to start
            print(f'slurmctld-config: {no_note}', file=sys.stderr)


def do_request(folder, verb, identifier):
    """The answer to one request of the sidecar (above)."""
    error, others = '', []
    if verb in ('check', 'install'):
        texts = sets.files(os.path.join(folder, 'sets', identifier))
        error = controllers.unkept_error(texts) or trial.try_set(texts, sets.files(sets.LIVE))
        if not error and verb == 'install':
            if controllers.is_shared(texts):
                controllers.note_unkept(texts, False)
            sets.swap(texts)
    elif verb == 'restore':
        good = sets.good_files()
        if good:
            if controllers.is_shared(good):
                controllers.note_unkept(sets.files(sets.LIVE), True)
            sets.swap(good)
        else:
            error = f'{sets.GOOD}: no files'
    elif verb == 'keep':
        controllers.keep()
        others = controllers.behind()
    elif verb == 'compare':
        error = '' if sets.files(sets.LIVE) == sets.good_files() else 'not kept'
        if error and controllers.is_outdated():
            sets.swap(sets.good_files())  # slurmctld has yet to take it: it is "not kept"
        others = [] if error else controllers.behind()
    else:
        error = f'{verb}: unknown'
    return {'id': identifier, 'error': error, 'behind': others}


def serve(folder):
    """Answers requests until it is ended. With two controllers it also looks at what nobody keeps (Unkept)."""
    requests, reply = os.path.join(folder, 'requests'), os.path.join(folder, 'answer')
    if not os.path.exists(requests):
        os.mkfifo(requests, 0o600)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    # Open for writing, too: the pipe has no end, and loses nothing.
    pipe, text, unkept = os.open(requests, os.O_RDWR), b'', controllers.Unkept()
    while True:
        wait = LOOK_SECONDS if controllers.is_shared(sets.files(sets.LIVE)) else None
        if select.select([pipe], [], [], wait)[0]:
            text += os.read(pipe, 4096)
        *lines, text = text.split(b'\n')
        for line in lines:
            verb, _, identifier = line.decode(errors='replace').partition(' ')
            try:
                result = do_request(folder, verb, identifier)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                result = {'id': identifier, 'error': f'slurmctld-config: {error}', 'behind': []}
            if verb == 'install':
                unkept.limit = controllers.UNKEPT_SECONDS
                unkept.begin(None)
            sets.replace(reply, json.dumps(result))
        try:
            unkept.look(time.monotonic())
        except OSError as error:
            print(f'slurmctld-config: {error}', file=sys.stderr)


def main():
    commands = {'start': start, 'serve': serve, 'await': answer.await_answer}
    if len(sys.argv) != 3 or sys.argv[1] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    commands[sys.argv[1]](sys.argv[2])
    return 0


if __name__ == '__main__':
    sys.exit(main())
