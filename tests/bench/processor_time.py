# SPDX-License-Identifier: GPL-2.0-or-later
"""What processes use of the processors meanwhile, by their names: where the time goes on a machine whose processors are
the limit."""
import contextlib
import os
import pathlib

TICK = os.sysconf("SC_CLK_TCK")


def _parts(text):
    """(name, processor time in seconds, when it started) of a stat file of /proc."""
    fields = text[text.rindex(")") + 2:].split()
    return text[text.index("(") + 1:text.rindex(")")], (int(fields[11]) + int(fields[12])) / TICK, fields[19]


def processor_seconds(text):
    """Of a process, with its threads that have ended, by its stat file of /proc."""
    return _parts(text)[1]


def _used():
    """{thread: (name, seconds)} of all threads; the name is the process', and the thread's where it has one of its own."""
    used = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            name = _parts((process / "stat").read_text())[0]
            for thread in (process / "task").iterdir():
                own, seconds, start = _parts((thread / "stat").read_text())
                used[thread.name, start] = name if own == name else f"{name}/{own}", seconds
        except OSError:  # it has ended
            continue
    return used


@contextlib.contextmanager
def processor_time(by_name):
    """Adds the seconds of processor time used meanwhile to {name: seconds}. What ends meanwhile isn't counted."""
    before = _used()
    yield
    for thread, (name, seconds) in _used().items():
        more = seconds - before.get(thread, (name, 0))[1]
        if more > 0:
            by_name[name] = by_name.get(name, 0) + more
