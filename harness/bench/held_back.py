"""How Kubernetes fares with many Pods that wait for binding conditions at once."""

import time

from fake_driver.profiles import fabric
from harness.bench.clearing import clear
from harness.bench.rounds import Samples
from harness.clusters.protocol import BareNode, Cluster
from harness.drivers import DriverHost
from harness.kube import Client, Obj, Waiter
from harness.kube.builders import claim, device_class, on_node, pod, request
from harness.kube.events import first_sent
from harness.kube.predicates import all_of, allocated, allocation_results, scheduled

_DRIVER = "bench-fabric.example.com"
_NODES = tuple(f"bench-rack-{number}" for number in range(4))
_LABEL = "dra-e2e/bench-rack"
_PATIENCE = 120.0  # seconds for what takes some on an idle machine
_BESIDE = 10  # Pods to place while the others wait

NAMES = ("beside", "condition", "conditions")


class HeldBack:
    """So many Pods wait in PreBind at once, others are placed beside them, then all conditions come true."""

    def __init__(self, cluster: Cluster, client: Client, count: int) -> None:
        self._cluster = cluster
        self._client = client
        self._count = count
        self._host = DriverHost(cluster, client)
        cluster.add_bare_nodes([BareNode(name, labels={_LABEL: "rack"}) for name in _NODES])
        expression = {"key": _LABEL, "operator": "In", "values": ["rack"]}
        selector = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        self._driver = self._host.serve(_DRIVER, [fabric(count, name="fabric", node_selector=selector)], plugins=())
        client.create(device_class(_DRIVER, driver=_DRIVER))

    @property
    def titles(self) -> dict[str, str]:
        """The series of a round: titles by name."""
        return {
            "beside": f"Pod created to bound while {self._count} others wait for conditions",
            "condition": f"its condition to its binding, {self._count} Pods at once",
            "conditions": f"last of {self._count} conditions to all bound",
        }

    def round(self) -> Samples:
        """Of each Pod beside, from each condition to its binding, from the last condition to all bindings."""
        client, count = self._client, self._count
        waiter = Waiter(client)
        for number in range(count):
            wanted = client.create(claim(f"waits-{number}", request(_DRIVER)))
            client.create(self._pod(f"waits-{number}", wanted))
        # Once a claim is allocated its Pod is in PreBind.
        claims = waiter.wait_any("ResourceClaim", all_of(allocated(), count), _PATIENCE)
        beside = [self._placed(waiter, f"beside-{number}") for number in range(_BESIDE)]

        reported = {}
        for each in claims:
            (result,) = allocation_results(each)
            self._driver.control.report(each, result["pool"], result["device"], {"DeviceAttached": "True"})
            reported[each["metadata"]["name"]] = time.time()
        pods = waiter.wait_any("Pod", all_of(scheduled(), count), _PATIENCE, label_selector=f"{_LABEL}=waits")
        bound = {made["metadata"]["name"]: _bound_at(waiter, made) for made in pods}
        clear(client)
        single = [bound[name] - at for name, at in reported.items()]
        return {
            "beside": beside,
            "condition": single,
            "conditions": [max(bound.values()) - max(reported.values())],
        }

    def close(self) -> None:
        """Leave nothing of the driver and its nodes."""
        self._host.close()
        self._cluster.remove_bare_nodes(_NODES)

    def _pod(self, name: str, wanted: Obj | None = None) -> Obj:
        kind = "waits" if wanted else "beside"
        claims = {"gpu": wanted} if wanted else None
        return pod(name, claims=claims, image=self._cluster.image, affinity=on_node(*_NODES), labels={_LABEL: kind})

    def _placed(self, waiter: Waiter, name: str) -> float:
        made = self._client.create(self._pod(name))
        began = time.monotonic()
        waiter.wait(made, scheduled())
        return time.monotonic() - began


def _bound_at(waiter: Waiter, made: Obj) -> float:
    """When the scheduler had bound the Pod: on a local cluster its clock is ours."""
    return first_sent(waiter.wait_event(made, "Scheduled")).latest
