"""What a scenario works with: its own namespace, driver names and nodes on a cluster it may share with others."""

import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from fake_driver.inventory import Pool, place
from harness import faults
from harness.clusters.protocol import BareNode, Cluster, NotObservable
from harness.drivers import Driver, DriverHost, Observed
from harness.evidence import Lack, Recorder, Sightings, name_of
from harness.explain import Explainer
from harness.kube import Client, Waiter, builders, metrics
from harness.kube.barrier import Barrier
from harness.kube.builders import DEFAULT_IMAGE
from harness.kube.predicates import Predicate
from harness.kube.resources import resource
from harness.plugin import axis
from harness.plugin.observer import ExplainingObserver
from harness.releases import Release
from harness.timeline import Timeline

Object = dict[str, Any]

#: The label of everything a scenario creates, and the taint of the bare nodes it has for itself.
LABEL = "dra-e2e/scenario"

#: What would make new Pods for deleted ones, owners of owners first.
OWNERS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")

#: Seconds that a cluster has for what it does at once on an idle machine.
TIMEOUT = 30.0

#: A namespace and a driver name must have room for a suffix within 63 characters.
_NAME_LENGTH = 28


class Scenario:
    """One scenario's part of a cluster. What it creates is labelled, in its own namespace, and removed by `close`."""

    def __init__(
        self, name: str, cluster: Cluster, client: Client, drivers: DriverHost, scheduler: str, time_factor: float,
        observed: Observed | None = None, guest: bool = False,
    ) -> None:  # fmt: skip
        # Namespaces outlive their scenarios: over many rounds the same name must not come twice.
        self.namespace = f"{_slug(name)}-{secrets.token_hex(4)}"
        self._cluster = cluster
        self.recorder = Recorder()
        #: What the time axis is drawn from.
        self.sightings = Sightings(self._is_own)
        self._client = client.in_namespace(self.namespace).witnessed(self.sightings)
        explainer = Explainer()
        observer = ExplainingObserver(self._client, self.recorder, explainer)
        self.waiter = Waiter(self.client, observer, explainer, time_factor)
        self.barrier = Barrier(self.client, self.waiter, image=cluster.image, pages=cluster.metrics)
        #: The scheduler profile that no other scenario uses at the same time: its metrics are this scenario's.
        self.scheduler_name = scheduler
        self._drivers = drivers
        self._observed = observed
        self._time_factor = time_factor
        self._guest = guest
        self._served: list[Driver] = []
        self._kinds: set[str] = set()
        self._has_account = False
        self._cleanup = ExitStack()
        self.client.create(builders.namespace(self.namespace, labels={LABEL: self.namespace}))
        #: Set by a scenario that leaves its exclusive cluster in a state in which nobody else should have it.
        self.spoilt = False
        #: Whether the scenario has turned to its cluster at all: one that has not proves nothing.
        self.asked = False

    @property
    def client(self) -> Client:
        """The API as the administrator, in the scenario's own namespace."""
        self.asked = True
        return self._client

    @property
    def cluster(self) -> Cluster:
        """The cluster, which others may use at the same time."""
        self.asked = True
        return self._cluster

    @property
    def release(self) -> Release:
        """The release of the cluster's control plane."""
        return self.cluster.release

    @property
    def node(self) -> str:
        """A node with a kubelet; scenarios spread over them by their names."""
        return self.nodes(1)[0]

    def nodes(self, count: int) -> tuple[str, ...]:
        """Different nodes with a kubelet. Raises NotObservable when there are fewer."""
        names = self.cluster.kubelet_nodes()
        if len(names) < count:
            raise NotObservable(f"the scenario needs {count} nodes with a kubelet, the cluster has {len(names)}")
        first = sum(self.namespace.encode()) % len(names)
        return tuple(names[(first + step) % len(names)] for step in range(count))

    # -- arranging ----------------------------------------------------------------------------------------------

    def driver(
        self,
        *pools: Pool,
        nodes: Sequence[str] | None = None,
        plugin: bool = True,
        health: bool = True,
        device_class: bool = True,
    ) -> Driver:
        """A fake driver of its own name, with `pools` published and its plugin registered when this returns.

        A pool that says nothing of where it is goes to each of `nodes` (default: `self.node`), named after the node.
        Without `plugin` devices can be allocated, but no kubelet can start a Pod with them; without `health` the plugin
        has no health service. With `device_class` a class of the driver's own name selects all its devices.
        """
        # The socket paths below the kubelet's directory leave a driver's name little room.
        name = f"gpu-{secrets.token_hex(3)}.example.com"
        where = [self.node] if nodes is None else list(nodes)
        driver = self._drivers.serve(
            name,
            place(pools, where),
            plugins=where if plugin else (),
            health=health,
            observer=self.recorder,
            time_factor=self._time_factor,
        )
        self._cleanup.callback(self._drivers.withdraw, driver)
        self._served.append(driver)
        self.recorder.note(f"driver {name} has published {sum(len(p.devices) for p in driver.control.pools)} devices")
        if device_class:
            self.create(builders.device_class(name, driver=name))
        return driver

    def any_driver(self, *pools: Pool) -> Observed:
        """A driver to be looked at as a black box: the cluster's own where --driver names it, else one with `pools`."""
        if self._observed:
            return self._observed
        driver = self.driver(*pools)
        return Observed(driver.name, driver.device_class)

    def bare_nodes(self, *nodes: BareNode) -> tuple[str, ...]:
        """Nodes without a kubelet that only this scenario's Pods tolerate; their names get the scenario's as prefix."""
        own = {"key": LABEL, "value": self.namespace, "effect": "NoSchedule"}
        renamed = tuple(
            BareNode(
                f"{self.namespace}-{node.name}",
                node.capacity,
                {**node.labels, LABEL: self.namespace},
                (*node.taints, own),
                node.declared_features,
            )
            for node in nodes
        )
        names = tuple(node.name for node in renamed)
        self._cleanup.callback(self.cluster.remove_bare_nodes, names)
        self.cluster.add_bare_nodes(renamed)
        return names

    def create(self, obj: Object) -> Object:
        """Create an object as part of this scenario and return it as stored."""
        body = self.client.complete(obj)
        body["metadata"].setdefault("labels", {})[LABEL] = self.namespace
        if body["kind"] == "Pod":
            self._await_account()
            self._at_home(body["spec"])
        elif "template" in body.get("spec", {}):
            self._at_home(body["spec"]["template"]["spec"])
        stored = self.client.create(body)
        if resource(stored["kind"]).namespaced:
            self._kinds.add(stored["kind"])
        else:
            self._cleanup.callback(self.client.delete, stored, missing_ok=True)
        self.recorder.note(f"created {name_of(stored)}", stored)
        return stored

    def _await_account(self) -> None:
        """No Pod is taken before its namespace has the default service account.

        Right after a restart of the API server the controller that makes it needs some seconds to find back.
        """
        if not self._has_account:
            Waiter(self.client, time_factor=self._time_factor).wait_account(TIMEOUT)
            self._has_account = True

    def _at_home(self, spec: Object) -> None:
        """Let a Pod run where this scenario is: on its own bare nodes, with an image that is there."""
        spec.setdefault("tolerations", []).append(
            {"key": LABEL, "operator": "Equal", "value": self.namespace, "effect": "NoSchedule"}
        )
        for container in (*spec.get("initContainers", ()), *spec["containers"]):
            if container["image"] == DEFAULT_IMAGE:
                container["image"] = self.cluster.image

    # -- acting -------------------------------------------------------------------------------------------------

    def delete(self, obj: Object) -> None:
        """Delete an object and wait until it is gone."""
        self.client.delete(obj, missing_ok=True)
        self.recorder.note(f"deleted {name_of(obj)}", obj)
        self.waiter.wait_gone(obj)

    def get(self, obj: Object) -> Object:
        """The object as it is now."""
        return self.client.get(obj)

    def on_exit(self, undo: Callable[[], object]) -> None:
        """Undo something that reaches further than objects when the scenario ends, whatever its outcome."""
        self._cleanup.callback(undo)

    def measured(self, measure: str, seconds: float, text: str) -> None:
        """Add a measurement to the timeline; the report shows the percentiles of each measure."""
        self.recorder.measured(measure, seconds, text)

    def note(self, text: str) -> None:
        """Add a line to the report's timeline of this scenario."""
        self.recorder.note(text)

    def held(self, gang: str, lacks: Lack, text: str) -> None:
        """Tell in the report what a held gang lacks, by what the cluster says of it."""
        self.recorder.held(gang, lacks, text)

    @contextmanager
    def fault(self, name: str, driver: Driver | None = None) -> Iterator[None]:
        """A named fault (docs/chaos.md) while the block runs: on the scenario's node, of the driver where one is given.

        What has been broken is started again at the end, but need not be well yet. Raises UsageError for an unknown
        name, NotObservable where the cluster does not let it happen.
        """
        (chosen,) = faults.named([name], faults.FAULTS)
        heal = chosen.inject(faults.Target(self.cluster, self.client, self.node, driver))
        self.recorder.note(f"fault {name}: {chosen.text}")
        try:
            yield
        finally:
            heal()
            self.recorder.note(f"fault {name} has ended")

    # -- observing ----------------------------------------------------------------------------------------------

    def wait(self, obj: Object, predicate: Predicate[Object], timeout: float = TIMEOUT) -> Object:
        """The object, as it was when the predicate first held. Raises WaitTimeout."""
        return self.waiter.wait(obj, predicate, timeout)

    def wait_event(self, obj: Object, reason: str, contains: str | None = None, timeout: float = TIMEOUT) -> Object:
        """The first Event about the object with that reason and text. Raises WaitTimeout."""
        return self.waiter.wait_event(obj, reason, contains, timeout)

    def scheduler_metric(self, name: str, **labels: str) -> float:
        """A metric of the scheduler, of this scenario's own scheduler profile: others do not count in it."""
        page = self.cluster.metrics("kube-scheduler")
        return metrics.value(page, name, profile=self.scheduler_name, **labels)

    # -- leaving ------------------------------------------------------------------------------------------------

    def marks(self) -> Sequence[str]:
        """Names by which log and audit lines of this scenario are known."""
        return (self.namespace, *(driver.name for driver in self._served))

    def timeline(self) -> Timeline | None:
        """What became of its Pods and devices until now, None where there are none. Never raises."""
        try:
            return axis.of_scenario(self._client, self.sightings, self._served, self.recorder.started)
        except Exception as error:  # whatever it is, the scenario's outcome stands: this only adds to it
            self.recorder.note(f"no time axis: {type(error).__name__}: {error}")
            return None

    def _is_own(self, obj: Object) -> bool:
        if obj["kind"] == "ResourceSlice":
            return any(obj["spec"]["driver"] == driver.name for driver in self._served)
        meta = obj["metadata"]
        return self.namespace in (meta.get("namespace"), (meta.get("labels") or {}).get(LABEL))

    def close(self) -> None:
        """Remove what the scenario made. Pods go first, while the driver that unprepares their devices is there."""
        try:
            self._remove_pods()
        finally:
            try:
                self._cleanup.close()
            finally:
                self._remove_others()

    def _remove_pods(self) -> None:
        if not self._kinds & {*OWNERS, "Pod"}:
            return
        for kind in OWNERS:
            if kind in self._kinds:
                self.client.delete_collection(kind, missing_ok=True)
        self.client.delete_collection("Pod")
        Waiter(self.client, time_factor=self._time_factor).wait_any("Pod", none_left(), 60)

    def _remove_others(self) -> None:
        """The empty namespace stays for as long as the cluster does, where the cluster is the run's own.

        To delete one is more than half of all that an ordinary scenario asks of its API server: two requests for each
        kind there is.
        """
        if self._guest:
            self.client.delete("Namespace", self.namespace, missing_ok=True)
            return
        for kind in sorted(self._kinds - {*OWNERS, "Pod"}):
            # A scenario may have left its own API server without the kind.
            self.client.delete_collection(kind, missing_ok=True)


def none_left() -> Predicate[Sequence[Object]]:
    """No object is left."""
    return Predicate("empty", lambda objects: not objects)


def _slug(name: str) -> str:
    """A DNS label of a test's name: the words that tell it apart are at its end as often as at its start."""
    words = re.sub(r"[^a-z0-9]+", "-", name.removeprefix("test_").lower())
    return words[:_NAME_LENGTH].strip("-") or "scenario"
