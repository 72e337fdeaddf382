"""The API as a guest uses it: what we make carries the run's label, and nothing else is written to."""

import copy
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.clusters.existing.facts import RUN_LABEL
from harness.clusters.protocol import NotObservable
from harness.kube import ApiError, Client
from harness.kube.transport import Query
from harness.releases import Release

#: Reviews are questions in the form of a write.
_QUESTIONS = ("selfsubjectaccessreviews", "subjectaccessreviews", "localsubjectaccessreviews", "tokenreviews")

#: Kinds without a namespace of which we have some of our own.
_CLUSTER_WIDE = frozenset(
    {
        "namespaces",
        "deviceclasses",
        "resourceslices",
        "devicetaintrules",
        "resourcepoolstatusrequests",
        "priorityclasses",
        "clusterroles",
        "clusterrolebindings",
    }
)

#: The names that scenarios give their drivers (harness.plugin.scenario).
OWN_DRIVER = re.compile(r"gpu-[0-9a-f]{6}\.example\.com")
_DOMAIN = ".example.com"

_PATH = re.compile(
    r"/(?:api/v1|apis/[^/]+/[^/]+)(?:/namespaces/(?P<namespace>[^/]+)(?=/(?!status$|finalize$)))?"
    r"/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/.*)?"
)


class Guest(Client):
    """A client that raises NotObservable for a write that would reach further than what it, or its copies, made."""

    def __init__(self, kubeconfig: Path, release: Release, run_id: str) -> None:
        super().__init__(kubeconfig, release)
        self._run_id = run_id
        #: (plural, name) of what has no namespace; shared by all copies.
        self._own: set[tuple[str, str]] = set()

    def raw(
        self, method: str, path: str, query: Query | None = None, body: Any = None,
        content_type: str = "application/json",
    ) -> Any:  # fmt: skip
        """As that of any client, for reads and for what is ours."""
        found = _PATH.fullmatch(path)
        if method == "GET" or found is None or found["plural"] in _QUESTIONS:
            return super().raw(method, path, query, body, content_type)
        namespace, plural, name = found["namespace"], found["plural"], found["name"]
        makes = method == "POST" and name is None
        if namespace is not None:
            allowed = ("namespaces", namespace) in self._own
        else:
            if makes or "apply-patch" in content_type:
                body = self._labelled(body)
            allowed = self._allows(method, path, plural, name, body, makes, content_type)
        if not allowed:
            raise NotObservable(f"this is somebody's cluster: {method} {path} is not ours to do")
        answer = super().raw(method, path, query, body, content_type)
        if makes and namespace is None and not (query or {}).get("dryRun"):
            self._own.add((plural, answer["metadata"]["name"]))
        return answer

    def claim(self, namespace: Mapping[str, Any]) -> str | None:
        """Make a namespace that stands for something only one run may have; returns the id of the run that has it.

        None where it is there and no run's.
        """
        name = namespace["metadata"]["name"]
        try:
            self.create(dict(namespace))
        except ApiError as error:
            if not error.conflict:
                raise
            labels = self.get("Namespace", name)["metadata"].get("labels", {})
            if labels.get(RUN_LABEL) == self._run_id:
                self._own.add(("namespaces", name))
            holder: str | None = labels.get(RUN_LABEL)
            return holder
        return self._run_id

    def _labelled(self, body: Any) -> Any:
        labelled = copy.deepcopy(body)
        labelled.setdefault("metadata", {}).setdefault("labels", {})[RUN_LABEL] = self._run_id
        return labelled

    def _allows(
        self, method: str, path: str, plural: str, name: str | None, body: Any, makes: bool, content_type: str
    ) -> bool:
        """Whether a write to what has no namespace stays with us."""
        if plural not in _CLUSTER_WIDE or (method != "DELETE" and not self._is_modest(plural, body, makes)):
            return False
        if makes:
            return True
        if name is None:
            return False
        return (plural, name) in self._own or ("apply-patch" in content_type and self._takes(path, plural, name))

    def _takes(self, path: str, plural: str, name: str) -> bool:
        """Whether an apply makes the object, or finds one of this run; then it is ours."""
        try:
            labels = super().raw("GET", path)["metadata"].get("labels", {})
        except ApiError as error:
            if not error.not_found:
                raise
            labels = {RUN_LABEL: self._run_id}
        if labels.get(RUN_LABEL) == self._run_id:
            self._own.add((plural, name))
            return True
        return False

    def _is_modest(self, plural: str, body: Any, makes: bool) -> bool:
        """Whether what is written touches only drivers and Pods of ours."""
        if not isinstance(body, dict):  # a JSON patch
            return "deviceSelector" not in json.dumps(body)
        spec = body.get("spec") or {}
        match plural:
            case "devicetaintrules":
                untouched = not makes and "deviceSelector" not in spec
                return untouched or self._is_own_driver((spec.get("deviceSelector") or {}).get("driver"))
            case "resourceslices":
                return (not makes and "driver" not in spec) or self._is_own_driver(spec.get("driver"))
            case "deviceclasses":
                return _DOMAIN[1:] in (spec.get("extendedResourceName") or _DOMAIN)
            case "priorityclasses":
                return not body.get("globalDefault")
        return True

    def _is_own_driver(self, name: str | None) -> bool:
        """One of a scenario, or one that is named after its namespace."""
        if not name:
            return False
        return bool(OWN_DRIVER.fullmatch(name)) or ("namespaces", name.removesuffix(_DOMAIN)) in self._own
