"""Which claims the fake driver has prepared: its own checkpoints on the nodes tell, whatever the kubelets believe."""

import json
from collections.abc import Mapping
from pathlib import Path

from fake_driver.node import Node
from harness.clusters.kind.cluster import KindCluster
from harness.clusters.local.cluster import LocalCluster
from harness.clusters.protocol import Cluster
from harness.drivers import Driver
from harness.faults.state import Plugin

_READ = 'if [ -f "$1" ]; then cat "$1"; fi'
_KUBELET_ROOT = Path("/var/lib/kubelet")
_CDI = Path("/var/run/cdi")


def prepared(cluster: Cluster, driver: Driver) -> Mapping[Plugin, frozenset[str]]:
    """The UIDs of the claims that are prepared, on each of the driver's nodes; empty where nobody can tell.

    Raises InfrastructureError when a node cannot be asked.
    """
    found = {}
    for node in driver.control.nodes:
        text = _checkpoint(cluster, driver.name, node)
        if text is not None:
            found[Plugin(driver.name, node)] = frozenset(str(each["uid"]) for each in json.loads(text or "[]"))
    return found


def _checkpoint(cluster: Cluster, driver: str, node: str) -> str | None:
    if isinstance(cluster, LocalCluster):
        file = Node(node, cluster.kubelet_root(node), cluster.cdi_dir(node)).checkpoint(driver)
        return file.read_text(encoding="utf-8") if file.exists() else ""
    if isinstance(cluster, KindCluster):
        file = Node(node, _KUBELET_ROOT, _CDI).checkpoint(driver)
        return cluster.execute(node, ["sh", "-euc", _READ, "sh", str(file)])
    return None
