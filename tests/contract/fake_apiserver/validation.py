# SPDX-License-Identifier: GPL-2.0-or-later
"""What the fake API server refuses about an object: the few rules of a real one that our objects could break."""
import re

NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
ANNOTATIONS_BYTES = 256 * 1024


def _invalid(error, kind, body, causes):
    name = body["metadata"].get("name", "")
    text = causes[0] if len(causes) == 1 else "[" + ", ".join(causes) + "]"
    return error(422, "Invalid", f'{kind} "{name}" is invalid: {text}')


def _metadata_causes(metadata):
    causes = []
    name = metadata.get("name", "")
    if not name:
        causes.append("metadata.name: Required value: name or generateName is required")
    elif len(name) > 253 or not NAME.fullmatch(name):
        causes.append(f'metadata.name: Invalid value: "{name}": a lowercase RFC 1123 subdomain must consist of '
                      "lower case alphanumeric characters, '-' or '.'")
    for key, value in metadata.get("labels", {}).items():
        if len(value) > 63 or not LABEL_VALUE.fullmatch(value):
            causes.append(f'metadata.labels: Invalid value: "{value}": a valid label must be an empty string or '
                          f"consist of alphanumeric characters (label {key})")
    if sum(len(key) + len(value) for key, value in metadata.get("annotations", {}).items()) > ANNOTATIONS_BYTES:
        causes.append(f"metadata.annotations: Too long: may not be more than {ANNOTATIONS_BYTES} bytes")
    return causes


def _pod_causes(body):
    causes = []
    containers = body.get("spec", {}).get("containers") or []
    if not containers:
        causes.append("spec.containers: Required value")
    for i, container in enumerate(containers):
        for field in ("name", "image"):
            if not container.get(field):
                causes.append(f"spec.containers[{i}].{field}: Required value")
    return causes


def check_create(body, resource, kind, namespace, error):
    """Raises `error` unless `body` may be created."""
    if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
        raise error(400, "BadRequest", "the object provided is unrecognized")
    if (body.get("apiVersion"), body.get("kind")) != (resource[0], kind):
        raise error(400, "BadRequest", f'{body.get("kind")} in version "{body.get("apiVersion")}" cannot be handled as '
                    f"a {kind}")
    metadata = body["metadata"]
    if metadata.get("namespace", namespace) != namespace:
        raise error(400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the "
                    "request")
    if metadata.get("resourceVersion"):
        raise error(500, "InternalError", "resourceVersion should not be set on objects to be created")
    causes = _metadata_causes(metadata)
    if kind == "Pod":
        causes += _pod_causes(body)
    if causes:
        raise _invalid(error, kind, body, causes)


def _fixed_spec(pod, before):
    """What of a pod's spec may not change. A pod with scheduling gates may lose them, and get a node selector."""
    free = ("schedulingGates", "nodeSelector") if before["spec"].get("schedulingGates") else ()
    return {key: value for key, value in pod["spec"].items() if key not in free}


def check_update(new, old, resource, kind, error):
    """Raises `error` unless the change from `old` to `new` is allowed."""
    causes = _metadata_causes(new["metadata"])
    if new["metadata"].get("uid") != old["metadata"]["uid"]:
        causes.append(f'metadata.uid: Invalid value: "{new["metadata"].get("uid")}": field is immutable')
    if kind == "Pod" and _fixed_spec(new, old) != _fixed_spec(old, old):
        causes.append("spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`")
    if causes:
        raise _invalid(error, kind, new, causes)
