# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions to slurmctld while something else goes on, and how long it takes to answer them (sdiag)."""
import re
import threading

from cluster import say, slurm

# Those that users and tools ask all the time, until a file appears; prints how many times.
ASK = r"""
asked=0
until [[ -e /tmp/bench-enough ]]; do
  squeue -h >/dev/null; scontrol -o show node compute-1 >/dev/null; sinfo -h >/dev/null
  asked=$((asked + 1)); sleep 0.1
done
rm /tmp/bench-enough; echo "$asked"
"""
ASKED = ("REQUEST_JOB_INFO", "REQUEST_PARTITION_INFO", "REQUEST_NODE_INFO")
RPC = re.compile(r"^\s+(REQUEST_\w+)\s*\(\s*\d+\)\s+count:(\d+)\s+ave_time:(\d+)\s+total_time:(\d+)", re.MULTILINE)


def ask_meanwhile(work):
    """What `work` returns, and {RPC: mean microseconds} of the questions' RPCs, whoever asks them."""
    slurm("sdiag --reset")
    counts = []
    asker = threading.Thread(target=lambda: counts.append(int(slurm(ASK))))
    asker.start()
    try:
        result = work()
    finally:
        slurm("touch /tmp/bench-enough")
        asker.join()
    say(f"asked {counts[0]} times")
    rpcs = {rpc: int(total) / int(count) for rpc, count, _, total in RPC.findall(slurm("sdiag"))}
    return result, {rpc: rpcs[rpc] for rpc in ASKED}


def add_answers(results, name, means):
    """The engine, the sidecar and the bridge ask, too: the mean of all requests would depend on which they ask."""
    results.add(f"rpc-{name}", sum(means.values()) / len(means))
    for rpc, mean in means.items():
        results.add(f"rpc-{name} {rpc}", mean)


def report_answers(results, what, ours, theirs):
    """`ours` and `theirs`: each a name of add_answers(), with words for it."""
    (name, words), (other, other_words) = ours, theirs
    mean, other_mean = results.median(f"rpc-{name}"), results.median(f"rpc-{other}")
    print(f"RPCs {what}: {mean:.0f} us {words}, {other_mean:.0f} us {other_words}: ratio {mean / other_mean:.2f}")
    for rpc in ASKED:
        print(f"  {rpc}: {results.median(f'rpc-{name} {rpc}'):.0f} us ({results.spread(f'rpc-{name} {rpc}')}), "
              f"{results.median(f'rpc-{other} {rpc}'):.0f} us ({results.spread(f'rpc-{other} {rpc}')})")
