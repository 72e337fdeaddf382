"""What is asked of `explain`, and what it must answer."""

import secrets
from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.explain import Explanation, Subject, explain, render
from harness.kube import ApiError, Client
from harness.kube.builders import cluster_role, cluster_role_binding, pod, rule
from harness.kube.predicates import scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario

#: What the difference is in each of these scenarios.
OTHER = "a Pod without this trouble is asked about"


class Case(NamedTuple):
    """A trouble: what makes it, the names of exactly the causes that must be found, and a text that proves them."""

    causes: str
    arrange: Callable[[Scenario], Object]
    proof: str = ""

    def __str__(self) -> str:
        return self.arrange.__name__.replace("_", "-")


def name_of(case: Case) -> str:
    """The id of a case's test."""
    return str(case)


def reader(scenario: Scenario) -> Client:
    """Someone who may list what `explain` reads, and nothing else."""
    name = f"reader-{scenario.namespace}-{secrets.token_hex(2)}"
    rules = [
        rule("", ["nodes", "pods", "events"], ["list"]),
        rule("resource.k8s.io", ["*"], ["list"]),
        rule("scheduling.k8s.io", ["podgroups"], ["list"]),
    ]
    return who_may(scenario, name, rules, known_by="Node")


def who_may(scenario: Scenario, name: str, rules: Sequence[Object], known_by: str) -> Client:
    """A user with these rights; they are in force when that kind may be listed: a role becomes known as a whole."""
    scenario.create(cluster_role(name, *rules))
    scenario.create(cluster_role_binding(name, name, name))
    client = scenario.client.as_user(name)

    def in_force() -> bool:
        try:
            client.list(known_by)
        except ApiError:
            return False
        return True

    scenario.waiter.poll(in_force, bool, f"the role of {name} is known")
    return client


def explanation(scenario: Scenario, obj: Object) -> Explanation:
    """What `explain` says of the object to someone who may only list."""
    kind = {"Pod": "pod", "ResourceClaim": "claim", "PodGroup": "podgroup", "Node": "node"}[obj["kind"]]
    subject = Subject(kind, (obj["metadata"]["name"],), obj["metadata"].get("namespace"))
    found = explain(reader(scenario), subject)
    scenario.note(f"explained: {render.brief(found) or 'nothing wrong'}")
    return found


def check(scenario: Scenario, difference: Difference, case: Case) -> None:
    """Make the trouble and ask; exactly its causes are named, with their proof."""
    obj = healthy(scenario) if difference(OTHER) else case.arrange(scenario)
    found = explanation(scenario, obj)
    text = render.text(found)
    assert sorted(found.causes) == sorted(case.causes.split()), text
    assert case.proof in text, text
    assert all(finding.sentence and finding.facts for finding in found.findings), text


def healthy(scenario: Scenario) -> Object:
    """A Pod that is scheduled at once."""
    return scenario.wait(scenario.create(pod("healthy", on=scenario.node)), scheduled())
