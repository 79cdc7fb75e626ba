# SPDX-License-Identifier: GPL-2.0-or-later
"""The chart's values for a slurmctld that is measured without pods that run: with our plugins, or without them."""
# Lines of slurm.conf.
WITHOUT = "PrEpPlugins=prep/script\nResumeProgram=/bin/true\nSuspendProgram=/bin/true\nResumeFailProgram=/bin/true"
# No Kubernetes node has this label.
NOWHERE = {"nodeSelector": {"slurm-k8s-bench": "nowhere"}}
