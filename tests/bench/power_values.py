# SPDX-License-Identifier: GPL-2.0-or-later
"""The chart's values for a slurmctld that is measured without pods that run: with our plugins, or without them."""
from cluster import LARGE

WITHOUT = ("PrEpPlugins=prep/script", "ResumeProgram=/bin/true", "SuspendProgram=/bin/true",
           "ResumeFailProgram=/bin/true")
# No Kubernetes node has this label.
NOWHERE = {"nodeSelector": {"slurm-k8s-bench": "nowhere"}}


def power_values(nodes, plugins, *lines):
    """`lines`: further ones of slurm.conf."""
    lines += () if plugins else WITHOUT
    return {"slurm": {"suspendTime": 86400, "resumeTimeout": 3600, "launchTimeout": 7200, "maxNodeCount": nodes + 100,
                      "nodeFeatures": {"enabled": plugins}},
            "controller": {"slurmctld": LARGE, **({"extraConf": "\n".join(lines)} if lines else {})},
            "nodesets": {"compute": {"replicas": nodes, "podSpec": NOWHERE}}}
