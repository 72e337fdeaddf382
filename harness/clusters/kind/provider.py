"""kind clusters of one release, as the pool asks for them."""

import os
import shutil
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from filelock import FileLock

from harness import programs
from harness.clusters import skew
from harness.clusters.kind import chosen_image, config, engine, host, objects
from harness.clusters.kind.access import Access
from harness.clusters.kind.cluster import KindCluster
from harness.clusters.kind.command import Kind
from harness.clusters.kind.components import Components
from harness.clusters.kind.facts import Facts, Ports
from harness.clusters.profile import Profile
from harness.clusters.run import Run, base_directory
from harness.clusters.wishes import Wishes
from harness.errors import InfrastructureError, UsageError
from harness.programs import Components as Replacements
from harness.programs import Program
from harness.releases import Release

_PROGRAMS = ("kind", "kwok")
_COMPONENTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet")


#: Cores that a cluster of four nodes keeps busy while it starts, and its scenario with it.
_CORES = 4


def check(release: Release, wishes: Wishes) -> None:
    """Raises UsageError, with what to do, where no cluster could be made, or none as the user wishes it."""
    if shutil.which("docker") is None:
        raise UsageError("kind needs the docker program on PATH: install Docker's command line")
    chosen = engine.require()
    if wishes.image is not None:
        chosen_image.choose(chosen, release, wishes.image)


def prepare(release: Release, wishes: Wishes) -> list[str]:
    """Have the host, kind and the node image ready, with progress; returns what a user should know."""
    check(release, wishes)
    notices = host.prepare()
    chosen = engine.require()
    if wishes.cluster_name is not None:  # not before dead runs are removed
        _check_absent(chosen, wishes.cluster_name)
    programs.get_all(_PROGRAMS, release)
    chosen_image.choose(chosen, release, wishes.image)
    return notices


class KindProvider:
    """Implements harness.clusters.pool.Provider."""

    lent_at_once = max(1, min(2, (os.cpu_count() or 1) // _CORES))

    def __init__(self, run: Run, release: Release, components: Replacements, wishes: Wishes) -> None:
        self._run = run
        self._release = release
        self._replacements = components
        self._wishes = wishes

    def start(self, directory: Path, *, name: str, profile: Profile) -> KindCluster:
        """Start a cluster; returns when it takes Pods on every node.

        Raises UsageError without an engine, InfrastructureError with kind's own reason; then nothing of it runs on.
        """
        chosen = engine.require()
        found = host.look(chosen)
        image = chosen_image.choose(chosen, self._release, self._wishes.image)
        replaced = self._replaced
        resolution = skew.resolution(profile, self._release, replaced)
        args = {component: self._replacements.args(component) for component in _COMPONENTS}
        paths = {component: program.path for component, program in replaced.items()}
        wanted = config.Wanted(resolution, args, paths, found.cgroup_v1, found.restrict_oom_scores)
        kind = Kind(self._programs["kind"].path, chosen, self._run.id)
        shell = chosen_image.shell(chosen, image)
        access = Access(directory)
        # One after another, for all runs of this user: two at once take longer together, and more goes wrong.
        with FileLock(base_directory() / "kind.lock"):
            kind_name = self._name(directory)
            _check_absent(chosen, kind_name)
            objects.ensure_network(chosen, self._run)
            kind.create(kind_name, image, config.write(wanted, directory), access.kubeconfig, directory / "logs")
        facts = Facts(
            name=name,
            run_id=self._run.id,
            release_name=self._release.name,
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
        return _started(directory, facts, shell)

    def attach(self, directory: Path) -> KindCluster:
        """The cluster that another process of the run started there."""
        return KindCluster.attach(directory)

    def _name(self, directory: Path) -> str:
        """What kind calls the cluster: the first of the run has the very name that was asked for."""
        wished = self._wishes.cluster_name
        if wished is None:
            return f"{objects.network_name(self._run.id)}-{directory.name}"
        first = self._run.directory / "named"
        if not first.exists():
            first.write_text(directory.name)
        return wished if first.read_text() == directory.name else f"{wished}-{directory.name}"

    @cached_property
    def _programs(self) -> Mapping[str, Program]:
        return programs.get_all(_PROGRAMS, self._release)

    @cached_property
    def _replaced(self) -> Mapping[str, Program]:
        return self._replacements.replacements


def _check_absent(chosen: engine.Engine, kind_name: str) -> None:
    """Raises UsageError: a cluster of somebody else would be removed as if it were ours."""
    if objects.containers(chosen, kind_name):
        raise UsageError(
            f"there is a kind cluster {kind_name} already: remove it (`make down reap`, where it is one of ours), "
            "or choose another --cluster-name"
        )


def _started(directory: Path, facts: Facts, shell: str | None) -> KindCluster:
    """Wait until it takes Pods and has a shell for them; what does not come that far is removed."""
    components = Components(directory, facts)
    cluster = KindCluster(directory, facts)
    try:
        components.static_pods.keep_originals()
        for component in ("kube-scheduler", "kube-controller-manager"):
            components.await_healthy(component)
        components.await_nodes(facts.workers)
        if shell is not None:
            cluster.load_image(shell)
    except BaseException:
        objects.remove_cluster(components.engine, facts.kind_name)
        shutil.rmtree(directory / "pki", ignore_errors=True)
        raise
    return cluster


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
