import json
from typing import Any, cast

import pytest

from harness.errors import UsageError
from harness.explain import Explainer, Explanation, Finding, Subject, render, snapshot
from harness.explain.model import either
from harness.kube.client import Client
from harness.kube.errors import ApiError
from tests.explain.cluster import a_node, unplaced

DOWN, UNKNOWN = Finding("down", "it is down", ("f",)), Finding("unknown", "it is unknown", ("g",), "start it")


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("pod", "a/b", Subject("pod", ("b",), "a")),
        ("claim", "b", Subject("claim", ("b",), "default")),
        ("node", "n", Subject("node", ("n",))),
        ("device", "d.example.com/rack/node/gpu-0", Subject("device", ("d.example.com", "rack/node", "gpu-0"))),
    ],
)
def test_names(kind: str, name: str, expected: Subject) -> None:
    assert Subject.parse(kind, name, "default") == expected


@pytest.mark.parametrize(("kind", "name"), [("pod", "a/b/c"), ("device", "a/b"), ("node", "a/b"), ("pod", "a/")])
def test_wrong_names(kind: str, name: str) -> None:
    with pytest.raises(UsageError, match="is no name of a"):
        Subject.parse(kind, name, "default")


def test_where_facts_fit_two_causes_the_text_says_so() -> None:
    found = Explanation("Pod ns/p", "phase Pending", tuple(either(DOWN, UNKNOWN)), ("may not list nodes",))
    assert render.text(found).splitlines() == [
        "Pod ns/p: phase Pending",
        "",
        "The facts fit each of these; one is the cause:",
        "down: it is down",
        "  - f",
        "unknown: it is unknown",
        "  - g",
        "  to change it: start it",
        "",
        "not known: may not list nodes",
    ]
    assert render.brief(found) == "either down: it is down, or unknown: it is unknown"
    assert json.loads(render.as_json(found))["findings"][0]["certain"] is False


def test_the_brief_form_has_two_lines_at_most() -> None:
    found = Explanation("Pod ns/p", "", (DOWN, UNKNOWN, DOWN, *either(DOWN, UNKNOWN)))
    assert render.brief(found).splitlines() == ["down: it is down", "unknown: it is unknown (and 1 more causes)"]


class Refusing:
    """A server that lets one list only some kinds, or only in one namespace."""

    namespace = "ns"

    def __init__(self, everywhere: set[str], beside: set[str], *found: dict[str, Any]) -> None:
        self.everywhere, self.beside, self.found = everywhere, beside, found

    def list(self, kind: str, namespace: str) -> tuple[list[dict[str, Any]], str]:
        if kind in self.everywhere or (namespace and kind in self.beside):
            return [obj for obj in self.found if obj["kind"] == kind], "1"
        if kind == "PodGroup":
            raise ApiError("GET", 404, "NotFound", "no such kind")
        raise ApiError("GET", 403, "Forbidden", "no")


def test_what_may_not_be_read_is_told_and_read_where_it_may_be() -> None:
    server = Refusing({"Node"}, {"Pod", "Event", "ResourceClaim", "ResourceClaimTemplate"}, a_node(), unplaced())
    taken = snapshot.read(cast(Client, server), "ns")
    assert taken.find("Pod", "waiter", "ns")
    assert taken.knows("PodGroup")
    assert not taken.knows("ResourceSlice")
    assert taken.unread == (
        "may not list pods (Forbidden) of other namespaces",
        "may not list resourceclaims (Forbidden) of other namespaces",
        "may not list deviceclasses (Forbidden)",
        "may not list resourceslices (Forbidden)",
        "may not list devicetaintrules (Forbidden)",
    )


def test_the_hook_never_raises() -> None:
    broken = cast(Client, object())
    assert (Explainer().explain(broken, unplaced()) or "").startswith("none: AttributeError")
    assert Explainer().remark(broken, unplaced()).startswith("no more is known: AttributeError")
    bound = {"kind": "Pod", "spec": {"nodeName": "n", "schedulingGroup": "a text"}}
    assert Explainer().remark(broken, bound).startswith("no more is known: ")
    assert Explainer().remark(broken, {"kind": "Pod"}) == ""
    assert Explainer().explain(broken, {"kind": "Secret", "metadata": {}}) is None
