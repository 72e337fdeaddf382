"""Talking to one API server: plain dicts in, plain dicts out, by object or by kind."""

import builtins
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Protocol

from harness.errors import UsageError
from harness.kube.errors import ApiError
from harness.kube.resources import Obj, Release, Resource, reference, resource
from harness.kube.shapes import fitted
from harness.kube.transport import Query, Transport, connect, with_token

Validation = Literal["Strict", "Warn", "Ignore"]
Propagation = Literal["Background", "Foreground", "Orphan"]
PatchType = Literal["merge", "json", "strategic"]

_PATCH_CONTENT = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}


class Witness(Protocol):
    """Is told of every object as it arrives."""

    def saw(self, obj: Obj, gone: bool = False, read: bool = False) -> None:
        """A version of the object, or that it is `gone` after that version; `read`: it may be older than a moment."""


class Client:
    """The API as one identity sees it. Thread safe.

    An object needs no `apiVersion`: the client fills in the one that the release uses. It needs no namespace either
    where the client has one (`in_namespace`). Every method raises ApiError when the server refuses and
    InfrastructureError when there is no server to refuse.
    """

    def __init__(
        self, kubeconfig: Path, release: Release | None = None, namespace: str = "default", *,
        context: str | None = None, keys: Path | None = None,
    ) -> None:  # fmt: skip
        """See `connect` for `context` and `keys`."""
        self.kubeconfig = kubeconfig
        self.release = release
        self.namespace = namespace
        self._witness: Witness | None = None
        self._transport = Transport(connect(kubeconfig, context, keys))

    # --- identities -------------------------------------------------------------------------------------------------

    def in_namespace(self, namespace: str) -> "Client":
        """The same client, with another namespace for objects that name none."""
        other = copy.copy(self)
        other.namespace = namespace
        return other

    def witnessed(self, witness: Witness) -> "Client":
        """The same client; the witness is told of every object that a request or a watch of it brings."""
        other = copy.copy(self)
        other._witness = witness
        return other

    def as_user(self, user: str, group: str | None = None) -> "Client":
        """The same server as another user, by impersonation (`system:serviceaccount:NS:NAME` for a service account)."""
        headers = {"Impersonate-User": user}
        if group:
            headers["Impersonate-Group"] = group
        other = copy.copy(self)
        other._transport = Transport(self._transport.api_client, headers)
        return other

    def with_token(self, token: str) -> "Client":
        """The same server with a bearer token, for example of a service account."""
        other = copy.copy(self)
        other._transport = Transport(with_token(self._transport.api_client, token))
        return other

    def service_account_token(self, name: str, namespace: str | None = None, pod: Obj | None = None) -> str:
        """A token of the service account for an hour, bound to the Pod (and so to its node) where one is given."""
        spec: Obj = {"expirationSeconds": 3600}
        if pod:
            meta = pod["metadata"]
            spec["boundObjectRef"] = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
        path = resource("ServiceAccount").path(namespace=namespace or self.namespace, name=name) + "/token"
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        return str(self.raw("POST", path, body=body)["status"]["token"])

    # --- objects ----------------------------------------------------------------------------------------------------

    def create(
        self, obj: Obj, *, dry_run: bool = False, validation: Validation = "Strict", subresource: str | None = None
    ) -> Obj:
        """Create the object. An unknown or repeated field is an error unless `validation` says otherwise."""
        body = self.complete(obj)
        name = body["metadata"].get("name") if subresource else None
        path = self._path(body, name, subresource)
        return self._object(self.raw("POST", path, _write(dry_run, validation), body), dry_run)

    def get(self, target: Obj | str, name: str | None = None, namespace: str | None = None) -> Obj:
        """The object as it is now: of the same kind and name as `target`, or of kind `target`."""
        return self._object(self.raw("GET", self._path_of(target, name, namespace)), read=True)

    def find(self, target: Obj | str, name: str | None = None, namespace: str | None = None) -> Obj | None:
        """As `get`, None where there is none."""
        try:
            return self.get(target, name, namespace)
        except ApiError as error:
            if error.not_found:
                return None
            raise

    def list(
        self, kind: str, namespace: str | None = None, *, label_selector: str | None = None,
        field_selector: str | None = None,
    ) -> tuple[builtins.list[Obj], str]:  # fmt: skip
        """All objects of a kind (`namespace` "" means every namespace), and the resourceVersion to watch from."""
        query = {"labelSelector": label_selector, "fieldSelector": field_selector}
        found = self.raw("GET", self.collection(kind, namespace), query)
        api_version = found["apiVersion"]
        # Items of a list carry no kind of their own.
        items = [{"apiVersion": api_version, "kind": kind, **item} for item in found.get("items") or []]
        if self._witness:
            for item in items:
                self._witness.saw(item, read=True)
        return items, found["metadata"]["resourceVersion"]

    def replace(
        self, obj: Obj, *, subresource: str | None = None, dry_run: bool = False, validation: Validation = "Strict"
    ) -> Obj:
        """Put the object in place of the stored one; a resourceVersion in it must still be the current one."""
        body = self.complete(obj)
        path = self._path(body, body["metadata"]["name"], subresource)
        return self._object(self.raw("PUT", path, _write(dry_run, validation), body), dry_run)

    def patch(
        self, target: Obj, patch: Obj | builtins.list[Obj], type: PatchType = "merge", *,
        subresource: str | None = None, dry_run: bool = False, validation: Validation = "Strict",
    ) -> Obj:  # fmt: skip
        """Change the object that `target` names."""
        path = self._path_of(target, subresource=subresource)
        query = _write(dry_run, validation)
        return self._object(self.raw("PATCH", path, query, patch, content_type=_PATCH_CONTENT[type]), dry_run)

    def apply(
        self, obj: Obj, *, field_manager: str = "dra-e2e", force: bool = True, subresource: str | None = None,
        dry_run: bool = False, validation: Validation = "Strict",
    ) -> Obj:  # fmt: skip
        """Server-side apply."""
        body = self.complete(obj)
        body["metadata"].pop("managedFields", None)
        path = self._path(body, body["metadata"]["name"], subresource)
        query = {**_write(dry_run, validation), "fieldManager": field_manager, "force": str(force).lower()}
        return self._object(self.raw("PATCH", path, query, body, content_type="application/apply-patch+yaml"), dry_run)

    def delete(
        self, target: Obj | str, name: str | None = None, namespace: str | None = None, *,
        grace_period_seconds: int | None = None, propagation: Propagation = "Background", uid: str | None = None,
        missing_ok: bool = False,
    ) -> None:  # fmt: skip
        """Ask for the deletion; it is done when a wait says so. With `uid` only that very object is deleted."""
        options: Obj = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        if grace_period_seconds is not None:
            options["gracePeriodSeconds"] = grace_period_seconds
        if uid:
            options["preconditions"] = {"uid": uid}
        self._delete(self._path_of(target, name, namespace), options, missing_ok)

    def delete_collection(
        self, kind: str, namespace: str | None = None, *, label_selector: str | None = None, missing_ok: bool = False
    ) -> None:
        """Ask for the deletion of all objects that the selector matches (Pods: without grace).

        `missing_ok`: also where the server does not have the kind.
        """
        options: Obj = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        if kind == "Pod":
            options["gracePeriodSeconds"] = 0
        query: Query = {"labelSelector": label_selector}
        self._delete(self.collection(kind, namespace), options, missing_ok, query)

    def watch(
        self, kind: str, namespace: str | None = None, *, resource_version: str, timeout: float,
        label_selector: str | None = None, field_selector: str | None = None,
    ) -> Iterator[Obj]:  # fmt: skip
        """Events after `resource_version`, for at most `timeout` seconds (see Transport.watch for how it ends)."""
        query = {
            "resourceVersion": resource_version,
            "labelSelector": label_selector,
            "fieldSelector": field_selector,
        }
        return self.watch_path(self.collection(kind, namespace), query, timeout)

    def events(self, obj: Obj) -> builtins.list[Obj]:
        """The Events about the object, oldest first."""
        found, _ = self.list("Event", event_namespace(obj), field_selector=event_selector(obj))
        return sorted(found, key=lambda event: int(event["metadata"]["resourceVersion"]))

    # --- paths ------------------------------------------------------------------------------------------------------

    def raw(
        self, method: str, path: str, query: Query | None = None, body: Any = None,
        content_type: str = "application/json",
    ) -> Any:  # fmt: skip
        """Any request by path: decoded JSON, or the text where the answer is not JSON."""
        return self._transport.request(method, path, query, body, content_type)

    def watch_path(self, path: str, query: Query, timeout: float) -> Iterator[Obj]:
        """A watch by path; `query` holds the resourceVersion and selectors."""
        for event in self._transport.watch(path, query, timeout):
            if self._witness and event["type"] != "BOOKMARK":
                self._witness.saw(event["object"], gone=event["type"] == "DELETED")
            yield event

    def api_version(self, kind: str) -> str:
        """The API version in which this client talks about a kind. Raises UsageError where the release has none."""
        row = resource(kind)
        if self.release is None or not row.moves:
            return row.api_version
        version = self.release.api_version(kind)
        if version is None:
            raise UsageError(f"{kind} does not exist in {self.release}")
        return version

    def collection(self, kind: str, namespace: str | None = None) -> str:
        """The path of all objects of a kind; `namespace` "" means every namespace, None the client's own."""
        where = self.namespace if namespace is None else namespace
        return resource(kind).path(self.api_version(kind), where)

    def complete(self, obj: Obj) -> Obj:
        """A copy with apiVersion and namespace filled in, as it is sent.

        One without apiVersion is a builder's, and gets the release's shape; one with it is taken by its word.
        """
        body = copy.deepcopy(obj)
        if "apiVersion" not in body:
            fitted(body, self.release)  # first: some releases have it as another kind
            body["apiVersion"] = self.api_version(body["kind"])
        meta = body.setdefault("metadata", {})
        if resource(body["kind"]).namespaced:
            meta.setdefault("namespace", self.namespace)
        return body

    def _path_of(
        self, target: Obj | str, name: str | None = None, namespace: str | None = None, subresource: str | None = None
    ) -> str:
        given: Obj = {"kind": target, "metadata": {"name": name}} if isinstance(target, str) else target
        if isinstance(target, str) and namespace:
            given["metadata"]["namespace"] = namespace
        name = given["metadata"].get("name")
        if not name:
            raise ValueError(f"{reference(given)} has no name")
        return self._path(self.complete(given), name, subresource)

    def _path(self, body: Obj, name: str | None, subresource: str | None) -> str:
        row: Resource = resource(body["kind"])
        path = row.path(body["apiVersion"], body["metadata"].get("namespace"), name)
        return f"{path}/{subresource}" if subresource else path

    def _delete(self, path: str, options: Obj, missing_ok: bool, query: Query | None = None) -> None:
        try:
            self.raw("DELETE", path, query, options)
        except ApiError as error:
            if not (missing_ok and error.not_found):
                raise

    def _object(self, answer: Any, dry_run: bool = False, read: bool = False) -> Obj:
        assert isinstance(answer, dict), f"the API server sent no object but {answer!r}"
        if self._witness and not dry_run:
            self._witness.saw(answer, read=read)
        return answer


def event_namespace(obj: Obj) -> str:
    """Where Events about the object are: beside it, or in `default` for what has no namespace."""
    return str(obj["metadata"].get("namespace") or "default")


def event_selector(obj: Obj) -> str:
    """A field selector for the Events about this very object (by uid), or about its name where it has no uid yet."""
    meta = obj["metadata"]
    uid = meta.get("uid")
    # Events about a Node carry its name in place of the uid.
    by_name = f"involvedObject.kind={obj['kind']},involvedObject.name={meta['name']}"
    return f"involvedObject.uid={uid}" if uid and obj["kind"] != "Node" else by_name


def _write(dry_run: bool, validation: Validation) -> Query:
    return {"fieldValidation": validation, "dryRun": "All" if dry_run else None}
