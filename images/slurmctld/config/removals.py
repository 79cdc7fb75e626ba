# SPDX-License-Identifier: GPL-2.0-or-later
"""What new files lack of the last good set. slurmctld ends jobs whose partition or node is gone when it starts, and before
that nobody can be asked for them. So a pod starts with these, too. Then the sidecar asks slurmctld for their jobs, and
installs the new files as they are, or says why it does not (ConfigPusher)."""
import re

import trial

DEFINITION = re.compile(r'\s*(NodeSet|NodeName|PartitionName)\s*=\s*"?([^"\s#]+)', re.I)
KINDS = ('nodeset', 'nodename', 'partitionname')  # one may name those before it


def definitions(texts):
    """{(KIND, NAME): LINE} of slurm.conf and the files of the set that it includes. DEFAULT is none."""
    found = {}
    joined = {name: re.sub(r'\\[ \t\r]*\n', ' ', text) for name, text in texts.items()}
    for _, _, line in trial.lines_of(joined) if 'slurm.conf' in joined else ():
        match = DEFINITION.match(line)
        if match and match.group(2).upper() != 'DEFAULT':
            found[match.group(1).lower(), match.group(2)] = line.strip()
    return found


def with_removed(texts, good):
    """The set `texts`, with what it lacks of the set `good` at the end of slurm.conf. The same when nothing is lacking:
    a NodeSet alone has no jobs."""
    if 'slurm.conf' not in texts:
        return texts
    now = definitions(texts)
    removed = {key: line for key, line in definitions(good).items() if key not in now}
    if not any(kind != 'nodeset' for kind, _ in removed):
        return texts
    lines = [removed[key] for key in sorted(removed, key=lambda key: KINDS.index(key[0]))]
    return {**texts, 'slurm.conf': '\n'.join([texts['slurm.conf'].rstrip('\n'), *lines, ''])}
