"""kind clusters of one release, as the pool asks for them."""

import shutil
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from filelock import FileLock

from harness import programs
from harness.clusters import skew
from harness.clusters.kind import config, engine, host, node_image, objects
from harness.clusters.kind.access import Access
from harness.clusters.kind.cluster import KindCluster
from harness.clusters.kind.command import Kind
from harness.clusters.kind.components import Components
from harness.clusters.kind.facts import Facts, Ports
from harness.clusters.profile import Profile
from harness.clusters.run import Run, base_directory
from harness.errors import InfrastructureError
from harness.programs import Components as Replacements
from harness.programs import Program
from harness.releases import Release

_PROGRAMS = ("kind", "kwok")
_COMPONENTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet")


def prepare(release: Release) -> list[str]:
    """Have the host, kind and the node image ready, with progress; returns what a user should know."""
    notices = host.prepare()
    programs.get_all(_PROGRAMS, release)
    node_image.ensure(engine.require(), release)
    return notices


class KindProvider:
    """Implements harness.clusters.pool.Provider."""

    def __init__(self, run: Run, release: Release, components: Replacements) -> None:
        self._run = run
        self._release = release
        self._replacements = components

    def start(self, directory: Path, *, name: str, profile: Profile) -> KindCluster:
        """Start a cluster; returns when it takes Pods on every node.

        Raises UsageError without an engine, InfrastructureError with kind's own reason; then nothing of it runs on.
        """
        chosen = engine.require()
        found = host.look(chosen)
        image = node_image.ensure(chosen, self._release)
        replaced = self._replaced
        resolution = skew.resolution(profile, self._release, replaced)
        args = {component: self._replacements.args(component) for component in _COMPONENTS}
        paths = {component: program.path for component, program in replaced.items()}
        wanted = config.Wanted(resolution, args, paths, found.cgroup_v1, found.restrict_oom_scores)
        kind = Kind(self._programs["kind"].path, chosen, self._run.id)
        kind_name = objects.cluster_name(self._run.id, directory.name)
        access = Access(directory)
        # One after another, for all runs of this user: two at once take longer together, and more goes wrong.
        with FileLock(base_directory() / "kind.lock"):
            objects.ensure_network(chosen, self._run)
            kind.create(kind_name, image, config.write(wanted, directory), access.kubeconfig, directory / "logs")
        facts = Facts(
            name=name,
            run_id=self._run.id,
            minor=self._release.minor,
            kind_name=kind_name,
            docker_host=chosen.host,
            image=image,
            control_plane=f"{kind_name}-control-plane",
            workers=_workers(kind_name, len(resolution.workers)),
            ports=_ports(chosen, f"{kind_name}-control-plane", access.unpack()),
            programs={name: str(program.path) for name, program in self._programs.items()},
            resolution=resolution,
            notes=found.notes,
        )
        facts.write(directory)
        return _started(directory, facts)

    def attach(self, directory: Path) -> KindCluster:
        """The cluster that another process of the run started there."""
        return KindCluster.attach(directory)

    @cached_property
    def _programs(self) -> Mapping[str, Program]:
        return programs.get_all(_PROGRAMS, self._release)

    @cached_property
    def _replaced(self) -> Mapping[str, Program]:
        return self._replacements.replacements


def _started(directory: Path, facts: Facts) -> KindCluster:
    """Wait until it takes Pods; what does not come that far is removed."""
    components = Components(directory, facts)
    try:
        components.static_pods.keep_originals()
        for component in ("kube-scheduler", "kube-controller-manager"):
            components.await_healthy(component)
        components.await_nodes(facts.workers)
    except BaseException:
        objects.remove_cluster(components.engine, facts.kind_name)
        shutil.rmtree(directory / "pki", ignore_errors=True)
        raise
    return KindCluster(directory, facts)


def _workers(kind_name: str, count: int) -> list[str]:
    """Their names, as kind chooses them."""
    return [f"{kind_name}-worker{number if number > 1 else ''}" for number in range(1, count + 1)]


def _ports(chosen: engine.Engine, control_plane: str, apiserver: int) -> Ports:
    container = chosen.client().containers.get(control_plane)

    def published(port: int) -> int:
        bindings = container.ports.get(f"{port}/tcp")
        if not bindings:
            raise InfrastructureError(f"Docker does not publish port {port} of {control_plane}")
        return int(bindings[0]["HostPort"])

    return Ports(apiserver, published(config.CONTROLLER_MANAGER_PORT), published(config.SCHEDULER_PORT))
