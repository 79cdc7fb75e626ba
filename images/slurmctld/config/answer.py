# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits for the sidecar's answer about a configuration: a condition of the controller's pod."""
import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.request

AWAIT_SECONDS = 240  # a new image of the controller may have to be pulled
# Reasons that end by themselves: helm has the pod recreated; kubelet starts slurmctld again.
PASSING = ('RestartRequired', 'SlurmctldAway')


def condition(url, context):
    with open('/var/run/secrets/kubernetes.io/serviceaccount/token', encoding='utf-8') as token:
        request = urllib.request.Request(url, headers={'Authorization': f'Bearer {token.read().strip()}'})
    with urllib.request.urlopen(request, context=context, timeout=10) as answer:
        pod = json.load(answer)
    conditions = pod.get('status', {}).get('conditions', [])
    return next((one for one in conditions if one['type'] == 'slurm-k8s.io/ConfigApplied'), {})


def await_answer(wanted):
    """The sidecar's answer about the configuration whose hash is `wanted`; others are about former ones."""
    account = '/var/run/secrets/kubernetes.io/serviceaccount'
    with open(f'{account}/namespace', encoding='utf-8') as file:
        namespace = file.read().strip()
    url = f'https://kubernetes.default.svc/api/v1/namespaces/{namespace}/pods/{os.environ["CONTROLLER_POD"]}'
    context = ssl.create_default_context(cafile=f'{account}/ca.crt')
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # authorities of clusters often lack key usages
    deadline, last = time.monotonic() + AWAIT_SECONDS, 'no answer of the sidecar'
    while time.monotonic() < deadline:
        try:
            found = condition(url, context)
            if wanted in found.get('message', ''):
                last = f'{found["reason"]}: {found["message"]}'
                if found['status'] == 'True':
                    print(last)
                    return
                if found['reason'] not in PASSING:
                    break
        except (OSError, urllib.error.URLError) as error:
            last = str(error)
        time.sleep(0.5)
    sys.exit(last)
