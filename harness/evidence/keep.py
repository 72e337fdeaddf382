"""What is kept of a failed scenario: its objects, events, component logs, audit entries and metrics."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import get_args

import yaml

from harness.clusters.protocol import Cluster, Component
from harness.errors import HarnessError
from harness.kube import ApiError, Client
from harness.kube.resources import resource

#: Cluster-scoped kinds that a scenario touches; its own are told by name or content.
CLUSTER_KINDS = ("Node", "ResourceSlice", "DeviceClass", "DeviceTaintRule")
NAMESPACED_KINDS = ("Pod", "ResourceClaim", "ResourceClaimTemplate", "PodGroup", "Workload", "Job", "Event")
METRIC_COMPONENTS: tuple[Component, ...] = ("kube-scheduler", "kube-controller-manager")

#: Enough of a component's log to see what led to the failure, little enough to open in an editor.
LOG_LINES = 2000


def keep(cluster: Cluster, client: Client, namespace: str, marks: Iterable[str], directory: Path) -> None:
    """Write the evidence of one scenario below `directory`; `marks` are names by which its log lines are known.

    Evidence is best effort: what cannot be had is said in `missing.txt`, the scenario's own outcome stands.
    """
    directory.mkdir(parents=True, exist_ok=True)
    missing: list[str] = []

    def attempt(what: str, write: Callable[[], None]) -> None:
        try:
            write()
        except (HarnessError, ApiError, OSError) as error:
            missing.append(f"{what}: {error}")

    marks = (namespace, *marks)
    for kind in NAMESPACED_KINDS:
        attempt(kind, lambda kind=kind: _objects(client, kind, namespace, directory))  # type: ignore[misc]
    for kind in CLUSTER_KINDS:
        attempt(kind, lambda kind=kind: _objects(client, kind, None, directory))  # type: ignore[misc]
    for component in get_args(Component):
        nodes = cluster.kubelet_nodes() if component == "kubelet" else (None,)
        for node in nodes:
            attempt(
                f"log of {component}",
                lambda component=component, node=node: _log(cluster, component, node, marks, directory),  # type: ignore[misc]
            )
    for component in METRIC_COMPONENTS:
        attempt(
            f"metrics of {component}",
            lambda component=component: _write(  # type: ignore[misc]
                directory / f"{component}.metrics.txt", cluster.metrics(component)
            ),
        )
    attempt("audit log", lambda: _audit(cluster, marks, directory))
    if missing:
        _write(directory / "missing.txt", "\n".join(missing) + "\n")


def _objects(client: Client, kind: str, namespace: str | None, directory: Path) -> None:
    items, _ = client.list(kind, namespace=namespace)
    if items:
        _write(directory / f"{resource(kind).plural}.yaml", yaml.safe_dump_all(items, sort_keys=False))


def _log(cluster: Cluster, component: Component, node: str | None, marks: Iterable[str], directory: Path) -> None:
    lines = cluster.log(component, node).splitlines()
    recent = len(lines) - LOG_LINES // 4
    chosen = [line for number, line in enumerate(lines) if number >= recent or any(mark in line for mark in marks)]
    name = f"{component}-{node}" if node else component
    _write(directory / f"{name}.log", "\n".join(chosen[-LOG_LINES:]) + "\n")


def _audit(cluster: Cluster, marks: Iterable[str], directory: Path) -> None:
    path = cluster.audit()
    if path is None:
        return
    with path.open(encoding="utf-8") as log:
        entries = list(_about(log, tuple(marks)))
    _write(directory / "audit.jsonl", "".join(entries))


def _about(log: Iterable[str], marks: tuple[str, ...]) -> Iterator[str]:
    for line in log:
        if any(mark in line for mark in marks) and _is_json(line):
            yield line


def _is_json(line: str) -> bool:
    """The last line may be half written while the API server goes on."""
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
