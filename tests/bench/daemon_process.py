# SPDX-License-Identifier: GPL-2.0-or-later
"""The process of a daemon of ours, as the machine that runs the bed sees it."""
import os
import pathlib
import re

from cluster import give_up


def process_of(program):
    """Its folder in /proc."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes().split(b"\0")[0].endswith(program.encode()):
                return folder
        except OSError:
            pass  # it has ended
    return give_up(f"no {program} runs on this machine")


def sidecar():
    return process_of("slurm-k8s-sidecar")


def seconds_of(process):
    """Processor time that it has used."""
    fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes_of(process):
    """What is resident."""
    return int(re.search(r"VmRSS:\s+(\d+)", (process / "status").read_text())[1]) / 1024
