"""`release draft`: a first version of a new release's data, from a cluster of it."""

import argparse
import sys
from collections.abc import Iterator, Mapping

from harness import releases
from harness.cli import kubeconfig
from harness.cli.command import Commands
from harness.kube import ApiError, Client, metrics
from harness.releases import Told


def add(commands: Commands) -> None:
    """Declare the command."""
    group = commands.group("release", "what is known of a Kubernetes release")
    draft = group.add("draft", _draft, "draft the data of a new release from a live cluster (docs/new-release.md)")
    kubeconfig.options(draft)
    draft.add_argument("--before", metavar="RELEASE", help="the release whose data it starts from (the newest)")


def _draft(chosen: argparse.Namespace) -> int:
    before = releases.get(chosen.before).minor
    with kubeconfig.client(chosen) as client:
        drafted = releases.draft(_ask(client), before)
    print(drafted.text())
    return 0


def _ask(client: Client) -> Told:
    """What the cluster tells through its API: API server and kubelet, no other component can be reached there."""
    gates: dict[str, tuple[str, bool]] = {}
    for component, path in _pages(client):
        try:
            page = client.raw("GET", path)
        except ApiError as error:
            print(f"dra-e2e: {component} did not tell its feature gates: {error.message}", file=sys.stderr)
            continue
        for sample in metrics.series(page, "kubernetes_feature_enabled"):
            gates.setdefault(sample.labels["name"], (sample.labels["stage"], sample.value == 1))
    return Told(str(client.raw("GET", "/version")["gitVersion"]), gates, _kinds(client))


def _pages(client: Client) -> Iterator[tuple[str, str]]:
    """Where components show their metrics; one kubelet is enough."""
    yield "kube-apiserver", "/metrics"
    nodes, _ = client.list("Node")
    for node in nodes[:1]:
        yield f"the kubelet of {node['metadata']['name']}", f"/api/v1/nodes/{node['metadata']['name']}/proxy/metrics"


def _kinds(client: Client) -> Mapping[str, list[str]]:
    """Kinds of every API version that is served; a subresource may be of another version than what it belongs to."""
    groups = client.raw("GET", "/apis")["groups"]
    found: dict[str, list[str]] = {}
    for version in ["v1", *(each["groupVersion"] for group in groups for each in group["versions"])]:
        found.setdefault(version, [])
        for each in client.raw("GET", f"/{'apis' if '/' in version else 'api'}/{version}")["resources"]:
            if "/" not in each["name"]:
                found[version].append(each["kind"])
            elif each.get("group"):
                found.setdefault(f"{each['group']}/{each['version']}", []).append(each["kind"])
    return found
