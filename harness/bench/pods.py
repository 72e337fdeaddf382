"""How long Kubernetes itself needs for a Pod with a device."""

import itertools
import time
from collections.abc import Sequence

from fake_driver.inventory import place
from fake_driver.profiles import gpus
from harness.bench.model import Series
from harness.clusters.protocol import Cluster
from harness.drivers import DriverHost
from harness.kube import Client, Waiter
from harness.kube.builders import claim_template, device_class, pod, request
from harness.kube.predicates import running, scheduled

_DRIVER = "bench.example.com"


def pods(cluster: Cluster, client: Client, count: int) -> list[Series]:
    """Pods one after the other, each with a claim from a template for one GPU: created, bound, running, gone."""
    nodes = cluster.kubelet_nodes()
    host = DriverHost(cluster, client)
    try:
        host.serve(_DRIVER, place([gpus()], nodes), plugins=nodes)
        client.create(device_class(_DRIVER, driver=_DRIVER))
        client.create(claim_template("one-gpu", request(_DRIVER)))
        rows = [_one(client, cluster.image, f"pod-{number}") for number in range(count)]
    finally:
        host.close()
    bound, run, gone = zip(*rows, strict=True)
    return [
        Series("bound", "Pod created to bound", bound),
        Series("running", "Pod bound to running", run),
        Series("gone", "Pod deleted to gone", gone),
    ]


def _one(client: Client, image: str, name: str) -> Sequence[float]:
    waiter = Waiter(client)
    made = client.create(pod(name, templates={"gpu": "one-gpu"}, image=image))
    times = [time.monotonic()]
    waiter.wait(made, scheduled())
    times.append(time.monotonic())
    waiter.wait(made, running())
    times.append(time.monotonic())
    client.delete(made)
    waiter.wait_gone(made)
    times.append(time.monotonic())
    return [later - earlier for earlier, later in itertools.pairwise(times)]
