"""What components say of their gates and serve of their APIs, as their own release and as an older one."""

from collections.abc import Mapping, Sequence

from harness.clusters.protocol import Component
from harness.errors import InfrastructureError
from harness.kube import ApiError, metrics
from harness.kube.builders import claim, pod, request
from harness.plugin.scenario import Object, Scenario
from harness.releases import get, supported

#: Seconds for what Kubernetes does at once, on a busy machine too.
SOON = 15.0


def emulable(scenario: Scenario) -> tuple[str, ...]:
    """The releases as which the cluster's components can behave, newest first: their own, and older ones."""
    minors = supported()
    return minors[minors.index(scenario.release.minor) :]


def emulate(
    scenario: Scenario,
    minor: str,
    *,
    component: Component = "kube-scheduler",
    gates: Mapping[str, bool] | None = None,
    args: Sequence[str] = (),
) -> None:
    """Let the component behave as that release's, as far as its `--emulated-version` goes."""
    scenario.note(f"{component} of {scenario.release.version} emulates {minor}")
    scenario.cluster.restart(component, gates=gates or {}, args=[f"--emulated-version={minor}", *args])


def refuses(scenario: Scenario, minor: str, gates: Mapping[str, bool], why: str) -> bool:
    """Whether the scheduler, emulating that release, refuses to start with these gates, and says why."""
    told_before = len(scenario.cluster.log("kube-scheduler"))
    try:
        emulate(scenario, minor, gates=gates)
    except InfrastructureError:
        words = scenario.cluster.log("kube-scheduler")[told_before:]
        assert why in words, f"the scheduler did not start, but not because {why!r}: {words[-500:]}"
        return True
    return False


def dependants(scenario: Scenario, minor: str, name: str) -> set[str]:
    """The gates that are on by themselves in that release and that the cluster's programs want off with this one."""
    older = get(minor).gates
    return {each.name for each in scenario.release.gates.values()
            if name in each.needs and each.name in older and older[each.name].default}  # fmt: skip


def gate(scenario: Scenario, name: str, component: Component = "kube-scheduler") -> tuple[str, bool]:
    """The gate's stage in the component's words (a stable one has none), and whether it is on."""
    page = metrics.series(scenario.cluster.metrics(component), "kubernetes_feature_enabled", name=name)
    assert page, f"{component} knows no feature gate {name}"
    return page[0].labels["stage"], bool(page[0].value)


def served(scenario: Scenario, version: str) -> set[str]:
    """The plural names of what the API server serves in an API version: none where it does not serve the version.

    This is discovery as every user may read it, and so what can be asked before anything else is tried.
    """
    try:
        found = scenario.client.as_user("somebody", "system:authenticated").raw("GET", f"/apis/{version}")
    except ApiError as error:
        if error.not_found:
            return set()
        raise
    return {each["name"] for each in found["resources"] if "/" not in each["name"]}


def claiming(scenario: Scenario, name: str, device_class: str) -> Object:
    """A Pod that wants one device of the class, by a claim of the same name."""
    wanted = scenario.create(claim(name, request(device_class)))
    return scenario.create(pod(name, claims={"gpu": wanted}))
