"""What a guest may write, and what it puts on it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import releases
from harness.clusters.existing.facts import RUN_LABEL
from harness.clusters.existing.guest import Guest
from harness.clusters.protocol import NotObservable
from harness.kube import ApiError, Client, builders

OWN = "gpu-0a1b2c.example.com"
OTHERS = "gpu.example.com"


class Server:
    """Answers writes with what it is sent, and reads with what is there."""

    def __init__(self) -> None:
        self.there: dict[str, Any] = {}
        self.sent: list[tuple[str, str, Any]] = []

    def raw(
        self, _client: Client, method: str, path: str, _query: Any = None, body: Any = None, _content_type: str = ""
    ) -> Any:
        if method == "GET":
            if path not in self.there:
                raise ApiError(path, 404, "NotFound", "not found")
            return self.there[path]
        if method == "POST" and f"{path}/{body['metadata']['name']}" in self.there:
            raise ApiError(path, 409, "AlreadyExists", "there")
        self.sent.append((method, path, body))
        return body


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    own = Server()

    def raw(client: Client, *args: Any) -> Any:  # a function, so that it becomes a method of the class
        return own.raw(client, *args)

    monkeypatch.setattr(Client, "raw", raw)
    return own


@pytest.fixture
def guest(tmp_path: Path, server: Server) -> Guest:
    part = {
        "name": "x",
        "cluster": {"server": "http://127.0.0.1:1"},
        "user": {},
        "context": {"cluster": "x", "user": "x"},
    }
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump({"current-context": "x", "clusters": [part], "users": [part], "contexts": [part]}))
    return Guest(file, releases.get("1.37"), "abcdef")


def test_what_has_no_namespace_carries_the_run(guest: Guest, server: Server) -> None:
    guest.create(builders.namespace("mine"))
    guest.create(builders.device_class("class", driver=OWN))
    assert [body["metadata"]["labels"][RUN_LABEL] for _, _, body in server.sent] == ["abcdef", "abcdef"]


def test_namespaces_of_others_are_left_alone(guest: Guest, server: Server) -> None:
    guest.create(builders.namespace("mine"))
    guest.in_namespace("mine").create(builders.pod("pod"))
    with pytest.raises(NotObservable, match="not ours to do"):
        guest.in_namespace("default").create(builders.pod("pod"))
    with pytest.raises(NotObservable):
        guest.delete("Namespace", "default")
    guest.delete("Namespace", "mine")


def test_copies_know_what_is_theirs(guest: Guest) -> None:
    guest.in_namespace("mine").create(builders.namespace("mine"))
    guest.as_user("somebody").in_namespace("mine").create(builders.pod("pod"))


def test_nodes_and_policies_are_left_alone(guest: Guest) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    for write in (guest.delete, guest.create, lambda each: guest.patch(each, {"metadata": {}}, subresource="status")):
        with pytest.raises(NotObservable):
            write(node)


@pytest.mark.parametrize("selector", [{}, {"pool": "n1"}, {"driver": OTHERS}])
def test_rules_for_devices_of_others_are_not_made(guest: Guest, selector: dict[str, str]) -> None:
    taint = builders.device_taint("example.com/x", "NoExecute")
    with pytest.raises(NotObservable):
        guest.create(builders.device_taint_rule("rule", taint, **selector))


def test_rule_for_an_own_driver_stays_one(guest: Guest) -> None:
    taint = builders.device_taint("example.com/x", "NoExecute")
    rule = guest.create(builders.device_taint_rule("rule", taint, driver=OWN))
    guest.patch(rule, {"spec": {"taint": {"effect": "NoSchedule"}}})
    for change in ({"spec": {"deviceSelector": None}}, [{"op": "remove", "path": "/spec/deviceSelector/driver"}]):
        with pytest.raises(NotObservable):
            guest.patch(rule, change, "json" if isinstance(change, list) else "merge")


def test_slices_and_classes_for_others_are_not_made(guest: Guest) -> None:
    guest.create(builders.resource_slice("slice", OWN, ["gpu-0"], node="n1"))
    with pytest.raises(NotObservable):
        guest.create(builders.resource_slice("slice", OTHERS, ["gpu-0"], node="n1"))
    with pytest.raises(NotObservable):
        guest.create(builders.device_class("class", driver=OWN, extended_resource_name="vendor.com/gpu"))


def test_objects_of_others_are_not_applied_over(guest: Guest, server: Server) -> None:
    role = {"kind": "ClusterRole", "metadata": {"name": "role"}}
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/role"
    server.there[path] = {"metadata": {"name": "role"}}
    with pytest.raises(NotObservable):
        guest.apply(role)
    server.there[path] = {"metadata": {"name": "role", "labels": {RUN_LABEL: "abcdef"}}}
    guest.apply(role)


@pytest.mark.parametrize(("labels", "holder"), [({}, None), ({RUN_LABEL: "fedcba"}, "fedcba")])
def test_only_one_run_has_the_namespace(
    guest: Guest, server: Server, labels: dict[str, str], holder: str | None
) -> None:
    server.there["/api/v1/namespaces/driver"] = {"metadata": {"name": "driver", "labels": labels}}
    assert guest.claim(builders.namespace("driver")) == holder
    with pytest.raises(NotObservable):
        guest.in_namespace("driver").create(builders.pod("pod"))
