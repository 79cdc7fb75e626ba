# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits for the sidecar's answer about a configuration: a condition of the controllers' pods."""
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
    """That of the pod; empty where there is no such pod, or it has none."""
    with open('/var/run/secrets/kubernetes.io/serviceaccount/token', encoding='utf-8') as token:
        request = urllib.request.Request(url, headers={'Authorization': f'Bearer {token.read().strip()}'})
    try:
        with urllib.request.urlopen(request, context=context, timeout=10) as answer:
            pod = json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return {}
        raise
    conditions = pod.get('status', {}).get('conditions', [])
    return next((one for one in conditions if one['type'] == 'slurm-k8s.io/ConfigApplied'), {})


def answer_of(conditions, wanted):
    """Of several pods' conditions the one that counts; None when none is about the configuration `wanted`.

    Those of former configurations do not count. True counts before others: one of two pods may lack its last word.
    """
    answers = [one for one in conditions if wanted in one.get('message', '')]
    return min(answers, key=lambda one: one['status'] != 'True', default=None)


def await_answer(wanted):
    """Prints the sidecar's answer about the configuration whose hash is `wanted`; exits with 1 when it is refused."""
    account = '/var/run/secrets/kubernetes.io/serviceaccount'
    with open(f'{account}/namespace', encoding='utf-8') as file:
        namespace = file.read().strip()
    pods = f'https://kubernetes.default.svc/api/v1/namespaces/{namespace}/pods'
    urls = [f'{pods}/{name}' for name in os.environ['CONTROLLER_PODS'].split()]
    context = ssl.create_default_context(cafile=f'{account}/ca.crt')
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # authorities of clusters often lack key usages
    deadline, last = time.monotonic() + AWAIT_SECONDS, 'no answer of the sidecar'
    while time.monotonic() < deadline:
        try:
            answer = answer_of([condition(url, context) for url in urls], wanted)
            if answer:
                last = f'{answer["reason"]}: {answer["message"]}'
                if answer['status'] == 'True':
                    print(last)
                    return
                if answer['reason'] not in PASSING:
                    break
        except (OSError, urllib.error.URLError) as error:
            last = str(error)
        time.sleep(0.5)
    sys.exit(last)
