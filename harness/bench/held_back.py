"""How Kubernetes fares with many Pods that wait for binding conditions at once."""

import time

from fake_driver.profiles import fabric
from harness.bench.model import Series
from harness.clusters.protocol import BareNode, Cluster
from harness.drivers import Driver, DriverHost
from harness.kube import Client, Obj, Waiter
from harness.kube.builders import claim, device_class, on_node, pod, request
from harness.kube.events import first_sent
from harness.kube.predicates import all_of, allocated, allocation_results, count_of, exists, scheduled

_DRIVER = "bench-fabric.example.com"
_NODES = tuple(f"bench-rack-{number}" for number in range(4))
_LABEL = "dra-e2e/bench"
_PATIENCE = 120.0  # seconds for what takes some on an idle machine
_BESIDE = 10  # Pods to place while the others wait
_NONE = count_of(exists(), 0)


def held_back(cluster: Cluster, client: Client, count: int, rounds: int) -> list[Series]:
    """So many Pods wait in PreBind at once, others are placed beside them, then all conditions come true; in rounds."""
    cluster.add_bare_nodes([BareNode(name, labels={_LABEL: "rack"}) for name in _NODES])
    host = DriverHost(cluster, client)
    try:
        expression = {"key": _LABEL, "operator": "In", "values": ["rack"]}
        selector = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        driver = host.serve(_DRIVER, [fabric(count, name="fabric", node_selector=selector)], plugins=())
        client.create(device_class(_DRIVER, driver=_DRIVER))
        results = [_round(client, driver, cluster.image, count) for _ in range(rounds)]
    finally:
        host.close()
        cluster.remove_bare_nodes(_NODES)
    beside, single, last = zip(*results, strict=True)
    return [
        Series("beside", f"Pod created to bound while {count} others wait for conditions", sum(beside, ())),
        Series("condition", f"its condition to its binding, {count} Pods at once", sum(single, ())),
        Series("conditions", f"last of {count} conditions to all bound", last),
    ]


def _round(
    client: Client, driver: Driver, image: str, count: int
) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    """Seconds: for each Pod beside, from each condition to its binding, from the last condition to all bindings."""
    waiter = Waiter(client)
    for number in range(count):
        wanted = client.create(claim(f"waits-{number}", request(_DRIVER)))
        client.create(_pod(f"waits-{number}", image, wanted))
    # Once a claim is allocated its Pod is in PreBind.
    claims = waiter.wait_any("ResourceClaim", all_of(allocated(), count), _PATIENCE)
    beside = tuple(_placed(client, waiter, _pod(f"beside-{number}", image)) for number in range(_BESIDE))

    reported = {}
    for each in claims:
        (result,) = allocation_results(each)
        driver.control.report(each, result["pool"], result["device"], {"DeviceAttached": "True"})
        reported[each["metadata"]["name"]] = time.time()
    pods = waiter.wait_any("Pod", all_of(scheduled(), count), _PATIENCE, label_selector=f"{_LABEL}=waits")
    bound = {made["metadata"]["name"]: _bound_at(waiter, made) for made in pods}

    client.delete_collection("Pod")
    waiter.wait_any("Pod", _NONE, _PATIENCE)
    client.delete_collection("ResourceClaim")
    waiter.wait_any("ResourceClaim", _NONE, _PATIENCE)
    single = tuple(bound[name] - at for name, at in reported.items())
    return beside, single, max(bound.values()) - max(reported.values())


def _pod(name: str, image: str, wanted: Obj | None = None) -> Obj:
    kind = "waits" if wanted else "beside"
    claims = {"gpu": wanted} if wanted else None
    return pod(name, claims=claims, image=image, affinity=on_node(*_NODES), labels={_LABEL: kind})


def _placed(client: Client, waiter: Waiter, body: Obj) -> float:
    made = client.create(body)
    began = time.monotonic()
    waiter.wait(made, scheduled())
    return time.monotonic() - began


def _bound_at(waiter: Waiter, made: Obj) -> float:
    """When the scheduler had bound the Pod: on a local cluster its clock is ours."""
    return first_sent(waiter.wait_event(made, "Scheduled")).latest
