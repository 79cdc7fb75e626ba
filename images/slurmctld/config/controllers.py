# SPDX-License-Identifier: GPL-2.0-or-later
"""What two controllers tell each other of their configuration. They share slurmctld's state, and the last good set.

A sidecar acts beside the slurmctld in control alone. So when slurmctld ends of what its trial took, nobody asks for the
last good set: the controller takes it back by itself (Unkept). Neither controller gets that set again.
"""
import hashlib
import json
import os
import re
import socket
import sys
import time

import sets

# Of controllers that share the state. A file for each: {"digest", "uid"} of the files that its slurmctld has, and its pod.
STARTED_WITH = os.path.join(sets.STATE, 'slurm-k8s-config-started')
# {"digest", "host", "failed"} of the set that is installed and not kept yet, or that slurmctld did not start with.
UNKEPT = os.path.join(sets.STATE, 'slurm-k8s-config-unkept')
UNKEPT_SECONDS = 90  # longer than the sidecar waits for slurmctld's reconfiguration (ConfigPusher)
UNKEPT_START_SECONDS = 180  # longer than it waits for one that starts


def host():
    """This controller, as slurm.conf names it."""
    return os.uname().nodename.split('.')[0]


def hosts(texts):
    """The controllers of slurm.conf, the first one first."""
    return re.findall(r'^\s*SlurmctldHost\s*=\s*([\w-]+)', texts.get('slurm.conf', ''), re.I | re.M)


def is_shared(texts):
    """Whether another controller has the same state."""
    return len(hosts(texts)) > 1


def digest(texts):
    """What a set is compared by with one that only the other controller has."""
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()


def note_start():
    """For the controller that keeps a set later: what this one's slurmctld has."""
    os.makedirs(STARTED_WITH, exist_ok=True)
    sets.replace(os.path.join(STARTED_WITH, host()),
                 json.dumps({'digest': digest(sets.files(sets.LIVE)), 'uid': os.environ.get('POD_UID', '')}))


def forget_start():
    """Until this one has its files, nothing is known of it."""
    sets.remove(os.path.join(STARTED_WITH, host()))


def started_with(name):
    """What a controller noted, if that was before the last good set was kept: later it has chosen its files itself."""
    path = os.path.join(STARTED_WITH, name)
    try:
        if os.stat(path).st_mtime < os.stat(sets.GOOD).st_mtime:
            with open(path, encoding='utf-8') as file:
                return json.load(file)
    except FileNotFoundError:
        pass
    return {}


def behind():
    """The other controllers of slurm.conf that have older files. Of one that noted nothing, nothing is known."""
    good, found = digest(sets.good_files()), []
    for name in hosts(sets.files(sets.LIVE)):
        noted = started_with(name) if name != host() else {}
        if noted and noted['uid'] and noted['digest'] != good:
            found.append({'pod': name, 'uid': noted['uid']})
    return found


def is_outdated():
    """Whether the other controller has kept a set, and this one still has the files that it started with."""
    live = sets.files(sets.LIVE)
    return is_shared(live) and live != sets.good_files() and started_with(host()).get('digest') == digest(live)


def note_unkept(texts, failed):
    """For unkept_error() of both: this set is installed; `failed`: slurmctld did not start with it."""
    sets.replace(UNKEPT, json.dumps({'digest': digest(texts), 'host': host(), 'failed': failed}))


def listens(name, texts):
    """Whether a slurmctld takes connections on this host."""
    port = sets.setting(texts.get('slurm.conf', ''), 'SlurmctldPort').split('-')[0] or 6817
    try:
        with socket.create_connection((name, port), timeout=2):
            return True
    except OSError:
        return False


def keeps_listening(name, texts):
    """One that ends again and again does not."""
    for wait in (0, 2, 2):
        time.sleep(wait)
        if not listens(name, texts):
            return False
    return True


def unkept_error(texts):
    """Neither controller takes a set again of which a slurmctld ended."""
    if not is_shared(texts) or not os.path.exists(UNKEPT):
        return ''
    with open(UNKEPT, encoding='utf-8') as file:
        unkept = json.load(file)
    if unkept['digest'] != digest(texts):
        return ''
    # The other one may have lost control just after it had installed them.
    is_of_other = unkept['host'] != host()
    if not unkept['failed'] and (not is_of_other or keeps_listening(unkept['host'], texts)):
        return ''
    return 'slurmctld has not started with it before, see its log; change a line to try it again'


class Unkept:
    """How long /etc/slurm has had files that nobody keeps, and whether slurmctld was away meanwhile."""

    def __init__(self):
        self.limit = UNKEPT_START_SECONDS
        self.begin(None)

    def begin(self, now):
        self.since = now
        self.was_away = False

    def look(self, now):
        """Takes the last good set back after `limit`."""
        live = sets.files(sets.LIVE)
        good = sets.good_files() if is_shared(live) else {}
        if not good or live == good:
            self.begin(None)
            return
        if self.since is None:
            self.begin(now)
        self.was_away = self.was_away or not listens('127.0.0.1', live)
        if now > self.since + self.limit:
            print('slurmctld-config: not kept: the previous configuration is back', file=sys.stderr)
            if self.was_away:
                note_unkept(live, True)
            sets.swap(good)
            note_start()
            self.begin(None)


def keep():
    """What is in /etc/slurm becomes the last good set."""
    texts = sets.files(sets.LIVE)
    if texts != sets.good_files():
        sets.replace_good(texts, host())
        sets.remove(UNKEPT)
    if is_shared(texts):
        note_start()
