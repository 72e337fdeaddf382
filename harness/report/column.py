"""What a cluster says about itself: the head of its column in the report."""

from typing import get_args

from harness.clusters.protocol import Cluster, Component
from harness.errors import HarnessError
from harness.kube import ApiError, Client, metrics
from harness.report.model import ReleaseFacts

_GATES = "kubernetes_feature_enabled"


def of_cluster(cluster: Cluster | None, profile: str) -> tuple[ReleaseFacts | None, tuple[str, ...]]:
    """The facts of a cluster, and warnings about what could not be asked; none of a cluster that never was."""
    if cluster is None:
        return None, ()
    client = Client(cluster.kubeconfig, cluster.release)
    warnings: list[str] = []
    gates = {}
    for component in get_args(Component):
        if component == "etcd":
            continue
        node = cluster.kubelet_nodes()[0] if component == "kubelet" and cluster.kubelet_nodes() else None
        try:
            gates[component] = _gates(cluster.metrics(component, node))
        except HarnessError as error:
            warnings.append(f"{component} did not tell its feature gates: {error}")
    try:
        version, apis = client.raw("GET", "/version")["gitVersion"], _served(client)
    except (HarnessError, ApiError) as error:
        version, apis = cluster.release.version, {}
        warnings.append(f"the API server did not tell what it serves: {error}")
    return ReleaseFacts(cluster.release.name, cluster.provider, version, profile, gates, apis), tuple(warnings)


def _gates(page: str) -> dict[str, bool]:
    return {sample.labels["name"]: sample.value == 1 for sample in metrics.series(page, _GATES)}


def _served(client: Client) -> dict[str, tuple[str, ...]]:
    groups = client.raw("GET", "/apis")["groups"]
    return {group["name"]: tuple(version["version"] for version in group["versions"]) for group in groups}
