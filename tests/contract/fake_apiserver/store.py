# SPDX-License-Identifier: GPL-2.0-or-later
"""The fake API server's objects: create, get, list, patch, delete, and the history that watches read.

Only what tests/contract/suite.cc states about a real kube-apiserver is imitated here. Thread-safe.
"""
import base64
import copy
import datetime
import json
import re
import threading
import uuid

import validation

BUILT_IN = {  # (apiVersion, plural) -> kind
    ("v1", "namespaces"): "Namespace",
    ("v1", "pods"): "Pod",
    ("v1", "serviceaccounts"): "ServiceAccount",
    ("events.k8s.io/v1", "events"): "Event",
    ("coordination.k8s.io/v1", "leases"): "Lease",
}
CUSTOM = {("slurm-k8s.io/v1alpha1", "nodesets"): "NodeSet"}
KINDS = {**BUILT_IN, **CUSTOM}
FINALIZERS = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}
FIELDS = {("v1", "pods"): ("spec.nodeName", "spec.schedulerName", "status.phase")}  # beside name and namespace


class ApiError(Exception):
    """A failure as the API server puts it into a Status object."""

    def __init__(self, code, reason, message):
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message

    def status(self):
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": self.message, "reason": self.reason, "code": self.code}


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def merge_patch(target, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = copy.deepcopy(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def merge_conditions(target, patch):
    """Of strategic merge patches what we use: conditions are merged by their type."""
    changes = patch.get("status", {}).get("conditions")
    if changes is None:
        return patch
    merged = {one["type"]: one for one in target.get("status", {}).get("conditions", [])}
    for change in changes:
        merged[change["type"]] = {**merged.get(change["type"], {}), **change}
    return {**patch, "status": {**patch["status"], "conditions": list(merged.values())}}


def json_patch(target, operations):
    """RFC 6902: add, replace, remove and test of object members."""
    result = copy.deepcopy(target)
    for operation in operations:
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        parent = result
        for part in path:
            parent = parent.setdefault(part, {}) if operation["op"] == "add" else parent.get(part, {})
        if operation["op"] != "add" and last not in parent:
            raise ApiError(422, "Invalid", "the server rejected our request due to an error in our request")
        if operation["op"] == "test" and parent[last] != operation["value"]:
            raise ApiError(422, "Invalid", "the server rejected our request due to an error in our request")
        if operation["op"] == "remove":
            del parent[last]
        elif operation["op"] in ("add", "replace"):
            parent[last] = operation["value"]
    return result


class Event:
    """One change: `old` and `new` are the object before and after; None where there is none."""

    def __init__(self, version, resource, old, new):
        self.version, self.resource, self.old, self.new = version, resource, old, new

    def seen_by(self, resource, namespace, selector):
        """(type, object) as a watch with that selector sees it, or None."""
        some = self.new or self.old
        if resource != self.resource or namespace not in ("", some["metadata"].get("namespace", "")):
            return None
        was = self.old is not None and selector.matches(self.old)
        is_now = self.new is not None and selector.matches(self.new)
        if is_now:
            return ("MODIFIED" if was else "ADDED"), self.new
        if not was:
            return None
        gone = copy.deepcopy(self.old)
        gone["metadata"]["resourceVersion"] = str(self.version)
        return "DELETED", gone


class Store:
    def __init__(self):
        self.changed = threading.Condition()
        self.version = 100
        self.compacted = 50  # a watch from before this version gets 410
        self.objects = {}  # (resource, namespace, name) -> object
        self.history = []
        self.pages = {}  # version -> items of a list that is read in pages

    # ---- reading ----

    def get(self, resource, namespace, name):
        with self.changed:
            return self._find(resource, namespace, name)

    def list(self, resource, namespace, selector, limit, token):
        with self.changed:
            version, start = self.version, 0
            if token:
                try:
                    version, start = json.loads(base64.urlsafe_b64decode(token))
                except (ValueError, TypeError):
                    raise ApiError(400, "BadRequest", "continue key is not valid") from None
                if version not in self.pages:
                    raise ApiError(410, "Expired", "The provided continue parameter is too old to display a "
                                   "consistent list result.")
                items = self.pages[version]
            else:
                items = [item for (of, where, _), item in sorted(self.objects.items(), key=lambda pair: pair[0][1:])
                         if of == resource and namespace in ("", where) and selector.matches(item)]
            metadata = {"resourceVersion": str(version)}
            end = start + limit if limit else len(items)
            if end < len(items):
                self.pages[version] = items
                metadata["continue"] = base64.urlsafe_b64encode(json.dumps([version, end]).encode()).decode()
                if not selector.terms and not selector.fields:
                    metadata["remainingItemCount"] = len(items) - end
            page = copy.deepcopy(items[start:end])
            if resource in BUILT_IN:
                for item in page:
                    item.pop("kind"), item.pop("apiVersion")
            return {"kind": KINDS[resource] + "List", "apiVersion": resource[0], "metadata": metadata, "items": page}

    def events_after(self, version, resource, namespace, selector):
        """What a watch at `version` has to send next: (last version looked at, [(type, object)])."""
        if version < self.compacted:
            raise ApiError(410, "Expired", f"too old resource version: {version} ({self.compacted})")
        seen = [event.seen_by(resource, namespace, selector) for event in self.history if event.version > version]
        return self.version, [event for event in seen if event]

    # ---- writing ----

    def create(self, resource, namespace, body):
        with self.changed:
            if namespace and (("v1", "namespaces"), "", namespace) not in self.objects:
                raise ApiError(404, "NotFound", f'namespaces "{namespace}" not found')
            new = copy.deepcopy(body)
            validation.check_create(new, resource, KINDS[resource], namespace, ApiError)
            metadata = new["metadata"]
            if (resource, namespace, metadata["name"]) in self.objects:
                raise ApiError(409, "AlreadyExists", f'{_qualified(resource)} "{metadata["name"]}" already exists')
            metadata.update(uid=str(uuid.uuid4()), creationTimestamp=now())
            if namespace:
                metadata["namespace"] = namespace
            if resource == ("v1", "pods"):
                new["status"] = {"phase": "Pending"}
                new["spec"].setdefault("terminationGracePeriodSeconds", 30)
            if resource in CUSTOM:
                metadata["generation"] = 1
                new.pop("status", None)
            return self._put(resource, None, new)

    def patch(self, resource, namespace, name, subresource, content_type, body):
        with self.changed:
            old = self._find(resource, namespace, name)
            if content_type == "application/json-patch+json":
                new = json_patch(old, body)
            elif content_type == "application/merge-patch+json":
                new = merge_patch(old, body)
            elif content_type == "application/strategic-merge-patch+json":
                new = merge_patch(old, merge_conditions(old, body))
            else:
                raise ApiError(415, "UnsupportedMediaType", "the body of the request was in an unknown format")
            if new["metadata"].get("resourceVersion") != old["metadata"]["resourceVersion"]:
                raise ApiError(409, "Conflict", f'Operation cannot be fulfilled on {_qualified(resource)} "{name}": the '
                               "object has been modified; please apply your changes to the latest version and try again")
            if subresource == "status":
                new = {**copy.deepcopy(old), "status": new.get("status", {}),
                       "metadata": {**old["metadata"], "uid": new["metadata"].get("uid")}}
            elif "status" in old or resource in CUSTOM:
                new.pop("status", None)
                if "status" in old:
                    new["status"] = old["status"]
            if new == old:
                return old
            if old["metadata"].get("deletionTimestamp") and old["metadata"].get("finalizers") and not new["metadata"].get(
                    "finalizers"):
                return self._drop(resource, namespace, name, new)
            validation.check_update(new, old, resource, KINDS[resource], ApiError)
            if resource in CUSTOM and new["spec"] != old["spec"]:
                new["metadata"]["generation"] += 1
            return self._put(resource, old, new)

    def delete(self, resource, namespace, name, options):
        with self.changed:
            old = self._find(resource, namespace, name)
            wanted = options.get("preconditions", {}).get("uid")
            if wanted and wanted != old["metadata"]["uid"]:
                raise ApiError(409, "Conflict", f'Operation cannot be fulfilled on {_qualified(resource)} "{name}": '
                               f'the UID in the precondition ({wanted}) does not match the UID in record '
                               f'({old["metadata"]["uid"]}). The object might have been deleted and then recreated')
            finalizer = FINALIZERS.get(options.get("propagationPolicy"))
            if finalizer:
                new = copy.deepcopy(old)
                new["metadata"].update(deletionTimestamp=now(), deletionGracePeriodSeconds=0, finalizers=[finalizer])
                return self._put(resource, old, new)  # the garbage collector would go on
            grace = options.get("gracePeriodSeconds")
            if grace is None:
                grace = old.get("spec", {}).get("terminationGracePeriodSeconds", 0)
            scheduled = resource == ("v1", "pods") and old["spec"].get("nodeName")
            if scheduled and old["metadata"].get("deletionGracePeriodSeconds", grace + 1) <= grace:
                return old
            if resource == ("v1", "pods"):
                new = copy.deepcopy(old)
                new["metadata"].update(deletionTimestamp=now(), deletionGracePeriodSeconds=grace if scheduled else 0)
                old = self._put(resource, old, new)
            if scheduled and grace > 0:
                return old  # kubelet would stop its containers, and then delete it for good
            return self._drop(resource, namespace, name, old)

    def create_subresource(self, resource, namespace, name, subresource, body):
        """pods/NAME/binding and pods/NAME/eviction."""
        success = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
        with self.changed:
            if resource != ("v1", "pods") or subresource not in ("binding", "eviction"):
                raise ApiError(404, "NotFound", "the server could not find the requested resource")
            if body.get("metadata", {}).get("name") != name:
                raise ApiError(400, "BadRequest", f"name in URL does not match name in {body.get('kind')} object")
            old = self._find(resource, namespace, name)
            if subresource == "eviction":
                self.delete(resource, namespace, name, {})
                return success
            uid = body["metadata"].get("uid")
            if uid and uid != old["metadata"]["uid"]:
                raise ApiError(409, "Conflict", f'Operation cannot be fulfilled on pods/binding "{name}": Precondition '
                               f'failed: UID in precondition: {uid}, UID in object meta: {old["metadata"]["uid"]}')
            node = old["spec"].get("nodeName")
            if node:
                raise ApiError(409, "Conflict", f'Operation cannot be fulfilled on pods/binding "{name}": pod {name} is '
                               f'already assigned to node "{node}"')
            new = copy.deepcopy(old)
            new["spec"]["nodeName"] = body["target"]["name"]
            if body["metadata"].get("annotations"):
                new["metadata"].setdefault("annotations", {}).update(body["metadata"]["annotations"])
            self._put(resource, old, new)
            return success

    def compact(self):
        """Forgets the history, as etcd does every five minutes."""
        with self.changed:
            self.version += 1
            self.compacted = self.version
            self.history.clear()
            self.pages.clear()

    # ---- with the lock held ----

    def _find(self, resource, namespace, name):
        found = self.objects.get((resource, namespace, name))
        if found is None:
            raise ApiError(404, "NotFound", f'{_qualified(resource)} "{name}" not found')
        return found

    def _put(self, resource, old, new):
        self.version += 1
        new["metadata"]["resourceVersion"] = str(self.version)
        self.objects[resource, new["metadata"].get("namespace", ""), new["metadata"]["name"]] = new
        self._record(Event(self.version, resource, old, new))
        return new

    def _drop(self, resource, namespace, name, old):
        self.version += 1
        del self.objects[resource, namespace, name]
        self._record(Event(self.version, resource, old, None))
        return old

    def _record(self, event):
        self.history.append(event)
        self.changed.notify_all()


def _qualified(resource):
    """pods, nodesets.slurm-k8s.io: as messages name a resource."""
    api, plural = resource
    return plural + ("." + api.split("/")[0] if "/" in api else "")


class Selector:
    """Label selectors: a=b, a==b, a!=b, a, !a, a in (b,c), a notin (b,c); field selectors: a=b, a==b, a!=b."""

    def __init__(self, text, fields="", resource=None):
        self.fields = [self._field(part, resource) for part in fields.split(",") if part]
        self.terms = [self._term(part.strip()) for part in re.split(r",(?![^(]*\))", text) if part.strip()]

    @staticmethod
    def _term(text):
        name = r"[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?"
        for pattern, test in (
                (rf"!\s*(?P<key>{name})", lambda value, _: value is None),
                (rf"(?P<key>{name})", lambda value, _: value is not None),
                (rf"(?P<key>{name})\s*==?\s*(?P<values>[^\s=!]*)", lambda value, values: value in values),
                (rf"(?P<key>{name})\s*!=\s*(?P<values>[^\s=!]*)", lambda value, values: value not in values),
                (rf"(?P<key>{name})\s+in\s+\((?P<values>[^()]*)\)", lambda value, values: value in values),
                (rf"(?P<key>{name})\s+notin\s+\((?P<values>[^()]*)\)", lambda value, values: value not in values)):
            match = re.fullmatch(pattern, text)
            if match:
                values = [value.strip() for value in match.groupdict().get("values", "").split(",")]
                return match["key"], test, values
        raise ApiError(400, "BadRequest", f"unable to parse requirement: found {text!r}")

    @staticmethod
    def _field(text, resource):
        path, operator, value = re.fullmatch(r"([^=!]+)(==?|!=)(.*)", text).groups()
        if path not in ("metadata.name", "metadata.namespace", *FIELDS.get(resource, ())):
            raise ApiError(400, "BadRequest", f"field label not supported: {path}")
        return path.split("."), operator != "!=", value

    def _has_fields(self, item):
        for path, equal, value in self.fields:
            found = item
            for part in path:
                found = found.get(part, {})
            if ((found or "") == value) != equal:
                return False
        return True

    def matches(self, item):
        if not self._has_fields(item):
            return False
        labels = item["metadata"].get("labels", {})
        return all(test(labels.get(key), values) for key, test, values in self.terms)
