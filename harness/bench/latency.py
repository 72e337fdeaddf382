"""How long Kubernetes needs to decide on a Pod and to carry it out, feature by feature, on nodes with kubelets."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count

from fake_driver.inventory import Taint
from harness.bench import workloads
from harness.bench.arrivals import Arrivals, owners_name
from harness.bench.attacher import Attacher
from harness.bench.clearing import clear
from harness.bench.rounds import Samples
from harness.bench.workloads import DRIVER, LABEL, Workload, names, shared_objects
from harness.clusters.protocol import Cluster
from harness.drivers import Driver, DriverHost
from harness.errors import InfrastructureError
from harness.explain import Explainer
from harness.kube import Client, Obj, Waiter
from harness.kube.builders import claim, on_node, pod, request
from harness.kube.predicates import (
    AllocatedDevice,
    allocated,
    allocated_devices,
    gone,
    running,
    scheduled,
    terminating,
)

_DEVICES = 8
_PATIENCE = 60.0  # seconds for what takes a few at most
_HELD = "held"
_KEPT = {LABEL: "kept"}
_WORN = Taint("example.com/worn", "NoExecute")

#: What a Pod comes to, in order.
STAGES = {
    "allocated": "applied to allocated: its claim has a device",
    "bound": "applied to bound: it has a node",
    "running": "applied to running: a kubelet has started it",
    "evicted": "tainted to evicted: the taint is written, the Pod is deleted",
}


@dataclass(frozen=True)
class Feature:
    """What is measured of a workload."""

    workload: Workload
    stages: tuple[str, ...] = ("allocated", "bound", "running")
    samples: int = 25
    """Units of each round."""
    at_once: int = 1
    """Units that are under way at the same time, where they do not keep each other waiting."""

    @property
    def titles(self) -> dict[str, str]:
        """The series of the feature: titles by name."""
        return {f"{self.workload.name} {stage}": f"{self.workload.title}: {stage}" for stage in self.stages}


def _prescheduled(name: str, image: str) -> Sequence[Obj]:
    return [pod(f"{name}-0", image=image, claims={"gpu": _HELD})]


#: Pods that nobody schedules: they share a claim that another Pod has had allocated on the node they name.
PRESCHEDULED = replace(workloads.CLAIM, name="prescheduled", title="on its node from the start", unit=_prescheduled)
EVICTION = replace(workloads.CLAIM, name="eviction", title="a device tainted NoExecute", gates=workloads.TAINTS.gates)

FEATURES = (
    Feature(workloads.CLAIM),
    Feature(workloads.TEMPLATED),
    Feature(PRESCHEDULED, ("running",), samples=8),
    Feature(workloads.EXTENDED),
    Feature(workloads.GANG, samples=5),
    Feature(workloads.ALLOCATABLE),
    Feature(workloads.CONDITIONS, samples=24, at_once=24),
    Feature(EVICTION, ("evicted",), samples=15),
)


class Kubelets:
    """The nodes of a cluster that have kubelets, and a driver on them."""

    def __init__(self, cluster: Cluster, client: Client) -> None:
        self._cluster = cluster
        self._client = client
        self._waiter = Waiter(client)
        self._numbers = count(1)
        self._host = DriverHost(cluster, client)
        self._driver: Driver | None = None
        self._tainted: AllocatedDevice | None = None
        for obj in shared_objects():
            client.create(obj)

    def prepare(self, feature: Feature) -> None:
        """Have the feature's devices on every node, and nothing else."""
        self._withdraw()
        nodes = self._cluster.kubelet_nodes()
        pools = [feature.workload.inventory(number, _DEVICES).on(node) for number, node in enumerate(nodes)]
        self._driver = self._host.serve(DRIVER, pools, plugins=nodes)
        if feature.workload is PRESCHEDULED:
            held = self._client.create(claim(_HELD, request(DRIVER), labels=_KEPT))
            holder = pod(
                "holder", image=self._cluster.image, claims={"gpu": held}, affinity=on_node(nodes[0]), labels=_KEPT
            )
            self._waiter.wait(self._client.create(holder), running(), _PATIENCE)

    def round(self, feature: Feature) -> Samples:
        """Measure so many units as the feature has in a round; raises InfrastructureError when one does not come."""
        samples: dict[str, list[float]] = {name: [] for name in feature.titles}
        with ExitStack() as stack:
            attacher = stack.enter_context(Attacher(self._client)) if feature.workload.attaching else None
            claims = Arrivals(self._client, "ResourceClaim", {"allocated": allocated()}, attacher, owners_name)
            stages = {"bound": scheduled(), "running": running(), "evicted": terminating() | gone()}
            seen = _Seen(
                self._client, stack.enter_context(claims), stack.enter_context(Arrivals(self._client, "Pod", stages))
            )
            for _ in range(feature.samples // feature.at_once):
                units = [f"{feature.workload.name}-{next(self._numbers)}" for _ in range(feature.at_once)]
                begins = {unit: self._apply(feature.workload, unit) for unit in units}
                for unit, applied in begins.items():
                    made = names(feature.workload, unit)
                    began = applied
                    if feature.workload is EVICTION:
                        seen.wait("running", made)
                        began = self._taint(unit)
                    for stage in feature.stages:
                        samples[f"{feature.workload.name} {stage}"].append(seen.wait(stage, made) - began)
                self._clear()
        return samples

    def close(self) -> None:
        """Leave nothing of the driver."""
        self._withdraw()
        self._host.close()

    def _apply(self, workload: Workload, unit: str) -> float:
        """Create a unit; returns when the last of its objects was sent."""
        began = 0.0
        for obj in workload.unit(unit, self._cluster.image):
            if workload is PRESCHEDULED:
                obj["spec"]["nodeName"] = self._cluster.kubelet_nodes()[0]
            began = time.monotonic()
            self._client.create(obj)
        return began

    def _taint(self, unit: str) -> float:
        """Taint the device of a unit; returns when that was acknowledged."""
        assert self._driver
        (device,) = allocated_devices(self._client.get("ResourceClaim", f"{unit}-0"))
        self._driver.control.update_device(device.pool, device.device, taints=(_WORN,))
        self._tainted = device
        return time.monotonic()

    def _clear(self) -> None:
        """Remove the units, so that the next ones meet the same: free devices."""
        clear(self._client)
        if self._driver and self._tainted:
            self._driver.control.update_device(self._tainted.pool, self._tainted.device, taints=())
            self._tainted = None

    def _withdraw(self) -> None:
        if self._driver:
            clear(self._client, everything=True)
            self._host.withdraw(self._driver)
            self._driver = None


@dataclass(frozen=True)
class _Seen:
    """What has been seen of claims and Pods."""

    client: Client
    claims: Arrivals
    pods: Arrivals

    def wait(self, stage: str, names: Sequence[str]) -> float:
        """When the last of the Pods (or their claims) had come so far. Raises InfrastructureError when it does not."""
        kind = self.claims if stage == "allocated" else self.pods
        if not kind.wait(lambda seen: seen.has(stage, *names), _PATIENCE):
            raise InfrastructureError(self._late(stage, names))
        first = kind.first(stage)
        return max(first[name] for name in names)

    def _late(self, stage: str, names: Sequence[str]) -> str:
        found = (self.client.find("Pod", name) for name in names)
        reasons = {Explainer().explain(self.client, each) if each else "the Pod does not exist" for each in found}
        return f"not {stage} within {_PATIENCE:.0f} s: {', '.join(names)}: {'; '.join(map(str, reasons))}"
