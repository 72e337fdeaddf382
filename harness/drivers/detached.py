"""A fake driver that outlives the command that started it, and ends with the run's cluster."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import yaml

from fake_driver.pool_file import parse_pool
from harness.clusters.local.cluster import LocalCluster
from harness.clusters.local.readiness import await_ready
from harness.clusters.protocol import Cluster
from harness.clusters.started import process
from harness.drivers import deployment, identity
from harness.drivers.deployed import DeployedHost
from harness.kube import Client, builders

#: Seconds that the process has to start and publish.
_START = 30.0


def start(
    cluster: Cluster, client: Client, name: str, pools: Sequence[Mapping[str, Any]], image: str | None = None
) -> None:
    """Serve a driver on all kubelets of the cluster, with a DeviceClass of its name; returns when it has published.

    `pools` are those of fake_driver's configuration file, on each node; `image` is that of the driver's Pods, where
    there are Pods. Raises InfrastructureError with the driver's last words when it does not come.
    """
    client.apply(builders.device_class(name, driver=name))
    if isinstance(cluster, LocalCluster):
        _start_process(cluster, client, name, pools)
    else:
        DeployedHost(deployment.ensure(cast("deployment.ImageCluster", cluster), client, image)).serve(
            name, [parse_pool(pool) for pool in pools]
        )


def _start_process(here: LocalCluster, client: Client, name: str, pools: Sequence[Mapping[str, Any]]) -> None:
    nodes = [
        {"name": node, "kubeletRoot": str(here.kubelet_root(node)), "cdiDir": str(here.cdi_dir(node))}
        for node in here.kubelet_nodes()
    ]
    configuration = {
        "kubeconfig": str(identity.kubeconfig(here, client)),
        "nodes": nodes,
        "drivers": [{"name": name, "pools": [dict(pool) for pool in pools]}],
    }
    file = here.directory / f"{name}.yaml"
    file.write_text(yaml.safe_dump(configuration, sort_keys=False), encoding="utf-8")
    command = [sys.executable, "-m", "fake_driver", "--config", str(file)]
    source = {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    running = process.start(f"driver-{name}", command, here.directory, here.facts.run_id, source)

    def published() -> bool:
        slices, _ = client.list("ResourceSlice", field_selector=f"spec.driver={name}")
        return len(slices) >= len(nodes)

    await_ready(f"driver {name}", published, [running], _START)
