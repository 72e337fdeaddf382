"""Nodes that are Node objects and nothing else, their devices, and a scheduler that is stopped while Pods are written.

Pods are only bound, so nothing else of a node is needed. Nobody sends heartbeats for a thousand nodes either: they
would be a load of their own; `profile_of` lets them stay Ready without.
"""

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from fake_driver.layout import layout
from harness.bench.arrivals import Arrivals
from harness.bench.attacher import Attacher
from harness.bench.clearing import clear
from harness.bench.workloads import DRIVER, LABEL, Inventory, Workload, shared_objects
from harness.clusters.local.cluster import LocalCluster
from harness.clusters.profile import Profile
from harness.clusters.protocol import BareNode
from harness.clusters.started import kwok
from harness.kube import Client, Obj, Waiter
from harness.kube.predicates import Predicate, allocated, count_of, scheduled

_WRITERS = 8
_PATIENCE = 120.0  # seconds for what takes a few
_CAPACITY = {"cpu": "64", "memory": "256Gi", "pods": "110"}
_FEATURE = "DRANodeAllocatableResources"
_SLICE = "slice"


def profile_of(profile: Profile) -> Profile:
    """The profile for a field: nodes without heartbeats stay as they are."""
    flags = {"kube-controller-manager": ["--node-monitor-grace-period=24h"]}
    return profile.with_nodes(1).variation(args=flags)


class Field:
    """A cluster of bare nodes."""

    def __init__(self, cluster: LocalCluster, client: Client) -> None:
        self._cluster = cluster
        self._client = client
        self._nodes: list[str] = []
        self._published: tuple[Inventory, int, int] | None = None
        for node in cluster.kubelet_nodes():
            cluster.stop("kubelet", node)
            client.delete("Node", node)
        cluster.stop("kube-scheduler")
        for obj in shared_objects():
            client.create(obj)

    def prepare(self, inventory: Inventory, nodes: int, devices: int) -> None:
        """Have so many nodes, each with so many devices of that kind in one slice. Nodes never get fewer."""
        if self._published == (inventory, nodes, devices):
            return
        self._client.delete_collection("ResourceSlice", label_selector=f"{LABEL}={_SLICE}")
        more = [f"bench-{number:04}" for number in range(len(self._nodes), nodes)]
        features = [_FEATURE] if self._cluster.release.gate(_FEATURE) else []
        kwok.create(self._cluster.apiserver, [BareNode(n, _CAPACITY, declared_features=features) for n in more])
        self._nodes += more
        untainted = Predicate[Obj]("without taints", lambda node: not node["spec"].get("taints"))
        Waiter(self._client).wait_any("Node", count_of(untainted, len(self._nodes)), _PATIENCE)
        self.write(
            slice_ for number, node in enumerate(self._nodes) for slice_ in _slices(inventory, number, node, devices)
        )
        self._published = (inventory, nodes, devices)

    def write(self, objects: Iterable[Obj]) -> None:
        """Create objects, many at a time and in no order."""
        with ThreadPoolExecutor(_WRITERS, "writing") as writers:
            for _ in writers.map(self._client.create, objects):
                pass

    def run(self, workload: Workload, pods: int, box: float) -> tuple[int, float]:
        """How many of so many waiting Pods are bound within `box` seconds, and the seconds that the scheduler took.

        They are counted from its first trace on, which is an allocation or a binding.
        """
        units = [f"{workload.name}-{number}" for number in range(pods // workload.size)]
        self.write(obj for unit in units for obj in workload.unit(unit, self._cluster.image))
        with ExitStack() as stack:
            bound = stack.enter_context(Arrivals(self._client, "Pod", {"bound": scheduled()}))
            given = None
            if workload.attaching:
                attacher = stack.enter_context(Attacher(self._client))
                given = stack.enter_context(
                    Arrivals(self._client, "ResourceClaim", {"allocated": allocated()}, attacher)
                )
            self._cluster.start("kube-scheduler")
            complete = bound.wait(lambda seen: seen.count("bound") >= pods, box)
            now = time.monotonic()
            self._cluster.stop("kube-scheduler")
            ends = sorted(bound.first("bound").values())
            traces = [*ends, *(given.first("allocated").values() if given else ())]
        clear(self._client)
        return len(ends), (ends[-1] if complete else now) - min(traces, default=now - box)


def _slices(inventory: Inventory, number: int, node: str, devices: int) -> Iterator[Obj]:
    pool = inventory(number, devices).on(node)
    parts = layout(DRIVER, pool)
    counts = {"name": pool.name, "generation": 1, "resourceSliceCount": len(parts)}
    for part in parts:
        metadata = {"name": part.name, "labels": {LABEL: _SLICE}}
        yield {"kind": "ResourceSlice", "metadata": metadata, "spec": {**part.spec, "pool": counts}}
