"""Pods whose containers are real, and what these see of devices."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.drivers import Driver
from harness.kube.builders import claim, container, pod, request
from harness.kube.predicates import Predicate, allocated, allocation_results, running
from harness.plugin.scenario import TIMEOUT, Object, Scenario
from scenarios.node_allocatable.observer import run

#: Where the plugins of a node keep the CDI files of prepared claims, and where a look into it is mounted.
CDI_DIRECTORY = "/var/run/cdi"
_ROOT = "/cdi"

#: Where the driver's CDI devices have their files in a container.
_FILES = "/dev/dra-e2e"

#: A command that sleeps, and ends when it is told to (the first process of a container has to ask for that).
UNTIL_TOLD = ("sh", "-c", "trap 'exit 0' TERM; sleep infinity & wait")


class Seen(NamedTuple):
    """What a container has of the driver's devices: variables of its environment, and files."""

    devices: frozenset[str]
    """`<driver>/<pool>/<device>`"""
    uuids: frozenset[str]
    files: frozenset[str]
    """CDI names"""


NOTHING = Seen(frozenset(), frozenset(), frozenset())


def seen(scenario: Scenario, consumer: Object, container: str = "main") -> Seen:
    """What a container sees, by its own words."""
    told = run(scenario, consumer, "sh", "-c", f"env; echo; ls {_FILES} 2>/dev/null", container=container)
    environment, _, files = told.partition("\n\n")
    devices, uuids = (
        frozenset(line.partition("=")[2] for line in environment.splitlines() if line.startswith(f"DRA_E2E_{kind}_"))
        for kind in ("DEVICE", "GPU")
    )
    return Seen(devices, uuids, frozenset(files.split()))


def due(scenario: Scenario, driver: Driver, consumer: Object, held: Object, container: str = "main") -> Seen:
    """What a container has to see of an allocated claim."""
    results = allocation_results(held)
    named = scenario.cluster.cdi_devices(consumer, container)
    published = {(pool.name, device.name): device.uuid for pool in driver.control.pools for device in pool.devices}
    return Seen(
        frozenset(f"{driver.name}/{found['pool']}/{found['device']}" for found in results),
        frozenset(str(published[found["pool"], found["device"]]) for found in results),
        frozenset(name.partition("=")[2] for name in named),
    )


def gpu_claim(scenario: Scenario, driver: Driver, name: str, count: int | None = None) -> Object:
    """A claim for GPUs of the driver."""
    return scenario.create(claim(name, request(driver.device_class, count=count)))


def user(
    scenario: Scenario,
    wanted: Object,
    name: str = "user",
    uses: Sequence[str] = ("main",),
    timeout: float = TIMEOUT,
    **options: Any,
) -> Object:
    """A running Pod with containers `main` and `other`, of which those in `uses` use the claim."""
    containers = [
        container(each, claims=["gpu"] if each in uses else [], command=UNTIL_TOLD) for each in ("main", "other")
    ]
    made = scenario.create(pod(name, claims={"gpu": wanted}, containers=containers, on=scenario.node, **options))
    return scenario.wait(made, running(), timeout)


def held_by(scenario: Scenario, wanted: Object) -> Object:
    """The claim with its allocation."""
    return scenario.wait(wanted, allocated())


def cdi_observer(scenario: Scenario) -> Object:
    """A running Pod that sees, and may change, the CDI files of the scenario's node."""
    wanted = pod("observer", on=scenario.node)
    wanted["spec"]["volumes"] = [{"name": "cdi", "hostPath": {"path": CDI_DIRECTORY, "type": "Directory"}}]
    wanted["spec"]["containers"][0]["volumeMounts"] = [{"name": "cdi", "mountPath": _ROOT}]
    return scenario.wait(scenario.create(wanted), running())


def cdi_files(scenario: Scenario, observer: Object, held: Object) -> list[str]:
    """The CDI files of a claim on the observer's node."""
    return [name for name in run(scenario, observer, "ls", _ROOT).split() if held["metadata"]["uid"] in name]


def remove_cdi_files(scenario: Scenario, observer: Object, held: Object) -> None:
    """Remove a claim's CDI files, as nobody should."""
    paths = [f"{_ROOT}/{name}" for name in cdi_files(scenario, observer, held)]
    assert paths, "the claim has no CDI file"
    told = run(scenario, observer, "rm", *paths)
    assert not told, told


def end(scenario: Scenario, consumer: Object, container: str = "main") -> None:
    """Let a container's command end."""
    run(scenario, consumer, "kill", "1", container=container)


def started_again(before: Object, container: str = "main") -> Predicate[Object]:
    """The container runs, and is another one than before."""
    old = state_of(before, container)["containerID"]

    def test(consumer: Object) -> bool:
        now = state_of(consumer, container)
        return "running" in now["state"] and now["containerID"] != old

    return Predicate(f"container {container} started again", test)


def state_of(consumer: Object, container: str = "main") -> Object:
    """The status of a container."""
    (found,) = (entry for entry in consumer["status"]["containerStatuses"] if entry["name"] == container)
    status: Object = found
    return status
