"""What every eviction begins with: a Pod that runs on a GPU of the scenario's own driver, and a taint."""

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from fake_driver.inventory import Taint
from harness.drivers import Driver
from harness.kube.builders import STUBBORN, claim, device_toleration, pod, request
from harness.kube.predicates import Predicate, allocated_devices, running, terminating
from harness.kube.times import api_time
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.outcomes import EVICTED

UNHEALTHY = "example.com/unhealthy"

#: Measures of the report. `timeAdded` is cut to whole seconds, so the second one can be up to a second below zero.
AT_ONCE = "eviction: from the acknowledged taint to the deletion of a Pod without toleration"
AFTER_TOLERATION = "eviction: from the end of the toleration's time to the deletion of the Pod"

#: Seconds that Kubernetes' own work may add to what a toleration allows; its times have a resolution of one second.
SLACK = 4.0


def tolerating(seconds: int | None) -> list[Object]:
    """The toleration of the taint, for so many seconds, or for ever."""
    return [device_toleration(UNHEALTHY, effect="NoExecute", seconds=seconds)]


def run_on_gpu(
    scenario: Scenario,
    driver: Driver,
    name: str = "worker",
    tolerations: Sequence[Object] = (),
    until: Predicate[Object] | None = None,
    **fields: object,
) -> tuple[Object, str]:
    """A Pod with a GPU, running unless told otherwise, and the name of that GPU.

    It takes two seconds to end, so that its deletion is seen.
    """
    wanted = scenario.create(claim(name, request(driver.device_class, tolerations=tolerations)))
    worker = scenario.create(pod(name, claims={"gpu": wanted}, **{"grace_seconds": 2, "command": STUBBORN, **fields}))  # type: ignore[arg-type]
    worker = scenario.wait(worker, until or running())
    return worker, allocated_devices(scenario.get(wanted))[0].device


def taint(
    scenario: Scenario, driver: Driver, *devices: str, effect: str = "NoExecute", added: float | None = None
) -> float:
    """Have the driver taint devices; returns when the write was acknowledged, in seconds since the epoch."""
    when = api_time(datetime.fromtimestamp(added, UTC)) if added is not None else None
    for device in devices:
        driver.control.update_device(scenario.node, device, taints=[Taint(UNHEALTHY, effect, time_added=when)])
    scenario.note(f"{effect} taint on {', '.join(devices)}")
    return time.time()


def whole_second() -> int:
    """Now, cut to whole seconds as the API cuts the time of a taint that is written from here on."""
    return int(time.time())


def evicted_after(scenario: Scenario, worker: Object, since: float, timeout: float = 30, tolerated: float = 0) -> float:
    """Seconds from `since` to the moment in which the Pod was seen marked for deletion by the eviction controller.

    The report gets the latency of the eviction: those seconds, less the ones that the Pod's toleration leaves it.
    """
    marked = scenario.wait(worker, terminating() & EVICTED, timeout)
    meta = marked["metadata"]
    due = datetime.fromisoformat(meta["deletionTimestamp"]).timestamp() - meta["deletionGracePeriodSeconds"]
    seconds = time.time() - since
    scenario.measured(
        AFTER_TOLERATION if tolerated else AT_ONCE,
        seconds - tolerated,
        f"evicted {seconds:.2f} s later (deletionTimestamp less grace: {due - since:+.0f} s)",
    )
    return seconds


def eviction_barrier(scenario: Scenario, driver: Driver) -> None:
    """The eviction controller has seen every taint so far: a Pod on a device that is tainted later is evicted."""
    twin, device = run_on_gpu(scenario, driver, "twin")
    taint(scenario, driver, device)
    scenario.wait(twin, terminating())


def deleters(scenario: Scenario, name: str) -> list[str]:
    """Who asked the API server to delete a Pod of the scenario, from the audit log."""
    audit = scenario.cluster.audit()
    return [] if audit is None else [entry["user"]["username"] for entry in _deletions(audit, scenario.namespace, name)]


def _deletions(audit: Path, namespace: str, name: str) -> list[Object]:
    entries = (json.loads(line) for line in audit.read_text().splitlines() if namespace in line and '"delete"' in line)
    return [
        entry
        for entry in entries
        if entry["verb"] == "delete"
        and entry["objectRef"]["resource"] == "pods"
        and (entry["objectRef"]["namespace"], entry["objectRef"].get("name")) == (namespace, name)
    ]
