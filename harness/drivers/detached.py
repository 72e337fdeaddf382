"""A fake driver as a process of the run: it outlives the command that started it, and ends with the run."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from harness.clusters.local import process
from harness.clusters.local.process import Process
from harness.clusters.local.readiness import await_ready
from harness.clusters.protocol import Cluster
from harness.drivers import identity
from harness.kube import Client, builders

#: Seconds that the process has to start and publish.
_START = 30.0


def start(cluster: Cluster, client: Client, name: str, pools: Sequence[Mapping[str, Any]]) -> Process:
    """Serve a driver on all kubelets of the cluster, with a DeviceClass of its name; returns when it has published.

    `pools` are those of fake_driver's configuration file, on each node. Raises InfrastructureError with the driver's
    last words when it ends at once.
    """
    here = identity.local(cluster)
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
    client.apply(builders.device_class(name, driver=name))
    command = [sys.executable, "-m", "fake_driver", "--config", str(file)]
    source = {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    running = process.start(f"driver-{name}", command, here.directory, here.facts.run_id, source)

    def published() -> bool:
        slices, _ = client.list("ResourceSlice", field_selector=f"spec.driver={name}")
        return len(slices) >= len(nodes)

    await_ready(f"driver {name}", published, [running], _START)
    return running
