"""The standard load: Pods with claims of every sort that come and go while faults strike."""

import random
import threading
from collections.abc import Callable
from itertools import cycle

from harness.clusters.protocol import Cluster
from harness.errors import InfrastructureError
from harness.faults import workloads
from harness.kube import ApiError, Client
from harness.kube.builders import claim, claim_template, device_class, gang, namespace, pod_group
from harness.kube.predicates import Predicate, count_of, exists, ready, running, succeeded
from harness.kube.resources import Obj
from harness.kube.waits import Waiter

_PACE = 0.4  # seconds between two steps
_PATIENCE = 40  # turns that a gang or a single Pod has before it is given up and tried anew
_START = 120.0  # seconds in which everything runs on a machine that is busy

_NONE = count_of(exists(), 0)


class Load:
    """Deployments whose Pods are replaced one by one, gangs, and single Pods that end by themselves.

    `workloads` tells what they ask for. `steps` counts what was done, `refused` what the API server did not take of it.
    """

    def __init__(self, cluster: Cluster, client: Client, seed: int) -> None:
        self._cluster = cluster
        self._client = client.in_namespace(workloads.NAMESPACE)
        self._waiter = Waiter(self._client)
        self._random = random.Random(seed)  # noqa: S311
        self._number = 0
        self._ages: dict[str, int] = {}
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._gangs = cluster.release.api_version("PodGroup") is not None
        self.steps = 0
        self.refused = 0

    def start(self) -> None:
        """Create what stays; returns when all of it runs. Raises WaitTimeout, ApiError, InfrastructureError."""
        self._client.create(namespace(workloads.NAMESPACE))
        for name, selector in workloads.CLASSES.items():
            resource = workloads.EXTENDED if name == workloads.SMALL else None
            self._client.create(
                device_class(name, workloads.DRIVER, selectors=[selector], extended_resource_name=resource)
            )
        for name, request in workloads.REQUESTS.items():
            self._client.create(claim_template(name, request))
        self._client.create(claim("shared", workloads.REQUESTS["own"]))
        self._waiter.wait_account()
        for each in workloads.deployments(self._cluster.image):
            self._client.create(each)
        self._waiter.poll(self.missing, lambda lacks: not lacks, "the load runs", _START)

    def resume(self) -> None:
        """Let it come and go."""
        self._over.clear()
        self.steps = self.refused = 0
        self._thread = threading.Thread(target=self._come_and_go, name="load", daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Let it come to rest: nothing is replaced any more."""
        self._over.set()
        if self._thread:
            self._thread.join()
            self._thread = None

    def missing(self) -> list[str]:
        """What of the load at rest is not as it should be, for want of a server that; empty when all is well."""
        try:
            self._remove_passing()
            return [*self._unwell(), *self._not_whole()]
        except (ApiError, InfrastructureError) as error:
            return [f"the API server does not answer: {error}"]

    def passes(self) -> None:
        """See a gang and a single Pod through, in a load at rest. Raises WaitTimeout, ApiError, InfrastructureError."""
        self._create_single()
        self._waiter.wait_any("Pod", count_of(succeeded(), 1), label_selector=workloads.selector("single"))
        if self._gangs:
            self._create_gang()
            everyone = count_of(running(), workloads.GANG)
            self._waiter.wait_any("Pod", everyone, label_selector=workloads.selector("gang"))
        self._remove_passing()
        for kind in ("single", "gang"):
            self._waiter.wait_any("Pod", _NONE, 60, label_selector=workloads.selector(kind))

    # --- what comes and goes ----------------------------------------------------------------------------------------

    def _come_and_go(self) -> None:
        turns: list[Callable[[], None]] = [
            self._replace,
            self._single_turn,
            *([self._gang_turn] if self._gangs else []),
        ]
        for turn in cycle(turns):
            if self._over.wait(_PACE):
                return
            self.steps += 1
            try:
                turn()
            except (ApiError, InfrastructureError):
                self.refused += 1

    def _replace(self) -> None:
        """Delete one of the Deployments' Pods: another one takes its place."""
        pods, _ = self._client.list("Pod", label_selector=workloads.selector("stays"))
        there = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        if there:
            self._client.delete(self._random.choice(there), missing_ok=True)

    def _single_turn(self) -> None:
        self._turn("single", 1, succeeded(), self._create_single)

    def _gang_turn(self) -> None:
        self._turn("gang", workloads.GANG, running(), self._create_gang)

    def _turn(self, kind: str, count: int, done: Predicate[Obj], create: Callable[[], None]) -> None:
        """Create where there is nothing, remove what is done or has had its time."""
        pods, _ = self._client.list("Pod", label_selector=workloads.selector(kind))
        self._ages[kind] = self._ages.get(kind, 0) + 1
        if not pods:
            create()
            self._ages[kind] = 0
        elif count_of(done, count)(pods) or self._ages[kind] > _PATIENCE:
            self._remove(kind)
            self._ages[kind] = 0

    def _create_single(self) -> None:
        self._number += 1
        self._client.create(workloads.single(f"single-{self._number}", self._cluster.image))

    def _create_gang(self) -> None:
        self._number += 1
        name = f"gang-{self._number}"
        group = pod_group(name, gang(workloads.GANG))
        group["metadata"]["labels"] = workloads.labels("gang")
        self._client.create(group)
        for number in range(workloads.GANG):
            self._client.create(workloads.member(f"{name}-{number}", name, self._cluster.image))

    def _remove_passing(self) -> None:
        self._remove("single")
        self._remove("gang")

    def _remove(self, kind: str) -> None:
        self._client.delete_collection("Pod", label_selector=workloads.selector(kind))
        if kind == "gang" and self._gangs:
            self._client.delete_collection("PodGroup", label_selector=workloads.selector(kind))

    # --- what stays -------------------------------------------------------------------------------------------------

    def _unwell(self) -> list[str]:
        """Nodes that do not take Pods."""
        nodes, _ = self._client.list("Node")
        taking = {node["metadata"]["name"] for node in nodes if ready()(node) and not _repels(node)}
        return [f"node {name} takes no Pods" for name in self._cluster.kubelet_nodes() if name not in taking]

    def _not_whole(self) -> list[str]:
        pods, _ = self._client.list("Pod")
        lacks = []
        for name, replicas in workloads.REPLICAS.items():
            own = [pod for pod in pods if pod["metadata"].get("labels", {}).get("app") == name]
            well = [pod for pod in own if ready()(pod) and "deletionTimestamp" not in pod["metadata"]]
            if not len(own) == len(well) == replicas:
                lacks.append(f"Deployment {name}: {len(well)} Pods of {replicas} are ready, {len(own)} exist")
        passing = [pod for pod in pods if pod["metadata"].get("labels", {}).get("app") not in workloads.REPLICAS]
        return [*lacks, *(f"Pod {pod['metadata']['name']} is still there" for pod in passing)]


def _repels(node: Obj) -> bool:
    return any(taint["effect"] != "PreferNoSchedule" for taint in node["spec"].get("taints") or ())
