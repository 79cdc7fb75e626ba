#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/soak: what a job is forgiven, and what is an error of ours. Prints TAP."""
import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../support'))
import tap

sys.path.insert(0, os.path.join(tap.TOP, 'tests/soak'))
import evidence
import faults
import ledger
import world

BEGIN = 1795824000.0  # 2026-11-28T00:00:00Z
LOG = """[2026-11-28T00:00:05.000] sched: Allocate JobId=7 NodeList=c-0 #CPUs=2 Partition=main
[2026-11-28T00:00:40.000] _job_complete: JobId=7 WEXITSTATUS 0
[2026-11-28T00:01:40.000] node c-0 not resumed by ResumeTimeout(90), setting DOWN and POWERED_DOWN
no time
"""


def job(**fields):
    return world.Job(**{"id": 7, "name": "j", "state": "COMPLETED", "reason": "None", "restarts": 0, "exit_code": "0:0",
                        "nodes": "c-0", **fields})


def run(first, last, ended=True, restart=0):
    return ledger.Run(f"run{first}", 7, restart, BEGIN + first, BEGIN + last, ended, "c-0", "c-0")


def wrong(jobs, runs, restarts=0, **more):
    return ledger.judge("j", jobs, runs, restarts, **more)


class Ledger(unittest.TestCase):
    def test_a_job_that_ran_once(self):
        self.assertEqual(wrong([job()], [run(5, 15)]), [])

    def test_lines_that_are_not_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = ["5.5 7 0 a start c-0 c-0", " 7 0 a beat  and more", "6.5 7", "7.5 7 0 a end"]
            pathlib.Path(folder, "j").write_text("\n".join(lines), encoding="utf-8")
            self.assertEqual(ledger.read(folder, "j"), [ledger.Run("a", 7, 0, 5.5, 7.5, True, "c-0", "c-0")])
            self.assertEqual(ledger.read(folder, "none"), [])

    def test_what_is_wrong(self):
        for text, sentences in (
                ("slurm has 0 jobs", wrong([], [])),
                ("slurm has 2 jobs", wrong([job(), job()], [run(5, 15)])),
                ("is RUNNING", wrong([job(state="RUNNING")], [run(5, 15)])),
                ("ended as FAILED", wrong([job(state="FAILED")], [run(5, 15)])),
                ("ended as CANCELLED", wrong([job(state="CANCELLED")], [])),
                ("restarted 1 times, at most 0", wrong([job(restarts=1)], [run(5, 9, False), run(20, 30)])),
                ("ran 2 times with 0 restarts", wrong([job()], [run(5, 9, False), run(20, 30)])),
                ("ran to its end 2 times", wrong([job(restarts=1)], [run(5, 9), run(20, 30)], 1)),
                ("its last run did not end", wrong([job()], [run(5, 15, False)])),
                ("beside its successor", wrong([job(restarts=1)], [run(5, 25, False), run(20, 30)], 1))):
            with self.subTest(text):
                self.assertTrue(any(text in sentence for sentence in sentences), sentences)

    def test_what_is_forgiven(self):
        twice = [run(5, 16), run(60, 70)]
        spans = [(BEGIN + 35, BEGIN + 41)]
        self.assertEqual(len(wrong([job(restarts=1)], twice, 1, forgotten=spans)), 1)
        heard = lambda one: max(one.last, BEGIN + 40)  # slurmctld was away when it ended
        self.assertEqual(wrong([job(restarts=1)], twice, 1, forgotten=spans, heard=heard), [])
        self.assertEqual(wrong([job(restarts=1)], twice, 1, unheard=lambda one: True), [])
        self.assertEqual(wrong([job(state="CANCELLED")], [], cancelled=True), [])


class World(unittest.TestCase):
    def test_names_that_are_no_text(self):
        before = world.BED
        with tempfile.TemporaryDirectory() as folder:
            world.BED = pathlib.Path(folder, "bed")
            world.BED.write_text("#!/bin/sh\nprintf 'JobId=7 JobName=a\\377b\\n'\n", encoding="utf-8")
            world.BED.chmod(0o755)
            try:
                self.assertEqual(world.bed("slurm"), "JobId=7 JobName=a\\xffb\n")
            finally:
                world.BED = before


class Evidence(unittest.TestCase):
    def setUp(self):
        self.evidence = evidence.Evidence()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "log")
            path.write_text(LOG, encoding="utf-8")
            self.evidence.read_log(path)

    def restarts(self, *hits, end=120):
        self.evidence.hits = list(hits)
        return self.evidence.restarts(7, BEGIN, BEGIN + end)

    def test_faults_of_its_own(self):
        self.assertEqual(self.restarts(), 0)
        self.assertEqual(self.restarts(faults.Hit("delete pod", BEGIN + 9, node="c-0")), 1)
        self.assertEqual(self.restarts(faults.Hit("delete pod", BEGIN + 9, node="c-1")), 0)
        self.assertEqual(self.restarts(faults.Hit("delete pod", BEGIN - 9, node="c-0")), 0)
        self.assertEqual(self.restarts(faults.Hit("kill slurmctld", BEGIN + 9, slurmctld=True)), 1)

    def test_a_node_that_an_outage_kept_away(self):
        outage = faults.Hit("stop kube-apiserver", BEGIN - 5, back=BEGIN + 60)
        self.assertEqual(self.restarts(outage), 1)
        self.assertEqual(self.restarts(outage, end=60), 0)  # it was given up after the job's end
        self.assertEqual(self.restarts(faults.Hit("stop kubelet", BEGIN - 50, back=BEGIN - 20)), 0)
        self.assertEqual(self.restarts(faults.Hit("stop kubelet", BEGIN + 101, back=BEGIN + 110)), 0)
        for kind in ("power node down", "reconfigure", "kill sidecar"):
            self.assertEqual(self.restarts(faults.Hit(kind, BEGIN - 5, back=BEGIN + 60)), 0, kind)

    def test_when_slurmctld_heard_of_an_end(self):
        self.assertEqual(self.evidence.heard(run(5, 16)), BEGIN + 40)
        self.assertEqual(self.evidence.heard(run(50, 60)), BEGIN + 60)  # it did not

    def test_an_end_that_went_with_its_pod(self):
        for at, is_unheard in ((14, False), (16, True), (39, True), (44, False)):  # slurmctld heard of it at 40
            self.evidence.hits = [faults.Hit("kill slurmd", BEGIN + at, node="c-0")]
            self.assertEqual(self.evidence.unheard(run(5, 16)), is_unheard, at)

    def test_what_a_killed_slurmctld_forgot(self):
        self.evidence.hits = [faults.Hit("kill slurmctld", BEGIN + 40, slurmctld=True, saved=BEGIN + 36)]
        self.assertEqual(self.evidence.forgotten(), [(BEGIN + 35, BEGIN + 41)])


if __name__ == '__main__':
    sys.exit(tap.main())
