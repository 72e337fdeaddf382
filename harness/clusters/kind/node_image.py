"""A node image of our own, for a release whose kindest/node cannot be pulled.

It is made of Debian's packages, the files of kind's own base image (from kind's module), and the programs of the
release. Its tag is a digest of all that: what is there under that tag need not be built.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import docker
import platformdirs
from docker.errors import BuildError, DockerException, ImageNotFound
from filelock import FileLock

from harness import programs
from harness.clusters import profile
from harness.clusters.kind.engine import Engine
from harness.errors import InfrastructureError, UsageError
from harness.programs import CNI_PLUGINS, CONTAINERD_PROGRAMS, KUBERNETES_PROGRAMS, Program, progress
from harness.releases import Release

#: The shell for Pods, in every node image of ours.
SHELL = "dra-e2e.local/shell:1"

#: What the names of all node images of ours begin with.
REPOSITORY = "dra-e2e.local/node"
_BASE = "dra-e2e.local/node-base"
_STAGE = "dra-e2e.stage=build"  # a label, in the Dockerfiles
_SUITE = "bookworm"  # the last Debian whose systemd boots on cgroup v1, too
_CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
_PLUGINS = tuple(name for name in CNI_PLUGINS if name != "bridge")
_NODE_PROGRAMS = ("kubeadm", "kubelet", "kubectl", *CONTAINERD_PROGRAMS, "crictl", *_PLUGINS)
PROGRAMS = (*KUBERNETES_PROGRAMS, "etcd", "coredns", *CONTAINERD_PROGRAMS, "crictl", *_PLUGINS)


@dataclass(frozen=True)
class Component:
    """An image of a node: its name as kubeadm says it, the Dockerfile that makes it, and the program in it."""

    name: str
    dockerfile: str
    program: str | None = None


@dataclass(frozen=True)
class Inputs:
    """Everything that the image is made of."""

    release: Release
    programs: Mapping[str, Program]
    kind_files: Path
    recipe: Path
    """The folder kind-configs/node-image."""

    @classmethod
    def collect(cls, release: Release) -> "Inputs":
        """Fetch or build what is missing. Raises InfrastructureError."""
        files = programs.source("kind", release) / "images" / "base" / "files"
        return cls(release, programs.get_all(PROGRAMS, release), files, profile.directory() / "node-image")

    @property
    def packages(self) -> tuple[str, ...]:
        """Debian's packages beside the minimal system."""
        lines = (self.recipe / "packages.txt").read_text("utf-8").splitlines()
        return tuple(line for line in lines if line and not line.startswith("#"))

    @property
    def base_digest(self) -> str:
        """Names the Debian system."""
        return _digest([_SUITE, *self.packages])

    @property
    def digest(self) -> str:
        """Names the whole image."""
        release = self.release
        sums = [f"{name} {program.sha256}" for name, program in sorted(self.programs.items())]
        tree = [f"{path.relative_to(self.recipe)} {path.read_text('utf-8')}" for path in _files(self.recipe)]
        versions = [release.component_version(name) for name in ("kind", "etcd-image", "coredns", "pause")]
        return _digest([self.base_digest, release.version, *versions, *sums, *tree])

    @property
    def tag(self) -> str:
        """The image's name."""
        return f"{REPOSITORY}:{self.release.version}-{self.digest}"

    def components(self) -> tuple["Component", ...]:
        """The images that a node must have."""
        release, registry = self.release, "registry.k8s.io"
        version = release.component_version
        return (
            *(Component(f"{registry}/{name}:{release.version}", "program", name) for name in _CONTROL_PLANE),
            Component(f"{registry}/kube-proxy:{release.version}", "kube-proxy", "kube-proxy"),
            Component(f"{registry}/etcd:{version('etcd-image')}", "program", "etcd"),
            Component(f"{registry}/coredns/coredns:{version('coredns')}", "coredns", "coredns"),
            Component(self.pause, "pause"),
            Component(SHELL, "shell"),
        )

    @property
    def pause(self) -> str:
        """The image of the container that holds a Pod's namespaces."""
        return f"registry.k8s.io/pause:{self.release.component_version('pause')}"


def ensure(engine: Engine, release: Release) -> str:
    """The node image's name; it is built, with progress, where the engine does not have it.

    Raises InfrastructureError, with the tool's own reason, or UsageError where this host cannot build one.
    """
    inputs = Inputs.collect(release)
    client = engine.client()
    folder = Path(platformdirs.user_cache_dir("dra-e2e")) / "node-image"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        if not has(client, inputs.tag):
            with progress.step(f"building the node image of Kubernetes {release.version}"):
                _build(engine, inputs, folder)
            _tidy(client, inputs)
    return inputs.tag


def _build(engine: Engine, inputs: Inputs, folder: Path) -> None:
    client = engine.client()
    base = _base(client, inputs, folder)
    for component in inputs.components():
        named = [component.program] if component.program else []
        with _context(inputs, folder, named) as context:
            arguments = {"BASE": base, "PROGRAM": component.program or ""}
            _docker_build(client, context, component.name, component.dockerfile, arguments)
    with _context(inputs, folder, _NODE_PROGRAMS) as context:
        shutil.copytree(inputs.kind_files, context / "kind", copy_function=shutil.copyfile)
        for path in (context / "kind").rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)  # Go's module cache is read-only
        names = [component.name for component in inputs.components()]
        _run(["docker", "save", f"--output={context / 'images.tar'}", *names], context, engine.environment())
        arguments = {"BASE": base, "PAUSE": inputs.pause, "VERSION": inputs.release.version}
        _docker_build(client, context, inputs.tag, "node", arguments)


def _tidy(client: docker.DockerClient, inputs: Inputs) -> None:
    """Remove what only the build needed, and images of earlier inputs, unless a cluster has them."""
    client.images.prune(filters={"dangling": True, "label": _STAGE})
    of_release = f"{REPOSITORY}:{inputs.release.version}-"
    tags = [tag for image in client.images.list(name=REPOSITORY) for tag in image.tags]
    for tag in tags:
        if tag.startswith(of_release) and tag != inputs.tag:
            with suppress(DockerException):
                client.images.remove(tag)


def _docker_build(
    client: docker.DockerClient, context: Path, tag: str, dockerfile: str, arguments: Mapping[str, str]
) -> None:
    try:
        client.images.build(
            path=str(context),
            dockerfile=f"{dockerfile}.Dockerfile",
            tag=tag,
            buildargs=dict(arguments),
            rm=True,
            forcerm=True,
            network_mode="none",
        )
    except BuildError as error:
        told = [text for line in error.build_log if (text := str(line.get("stream", "")).strip())]
        raise InfrastructureError(f"cannot build image {tag}: {error.msg}: {' | '.join(told[-3:])}") from error
    except DockerException as error:
        raise InfrastructureError(f"cannot build image {tag}: {error}") from error


@contextmanager
def _context(inputs: Inputs, folder: Path, names: Iterable[str]) -> Iterator[Path]:
    """A build context with these programs, gone afterwards."""
    with TemporaryDirectory(dir=folder, prefix="context-") as temporary:
        context = Path(temporary)
        shutil.copytree(inputs.recipe, context, dirs_exist_ok=True)
        (context / "bin").mkdir()
        for name in names:
            _link(inputs.programs[name].path, context / "bin" / name)
        yield context


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy(source, target)


def _base(client: docker.DockerClient, inputs: Inputs, folder: Path) -> str:
    """The image with Debian alone."""
    name = f"{_BASE}:{inputs.base_digest}"
    if has(client, name):
        return name
    archive = folder / f"base-{inputs.base_digest}.tar"
    if not archive.exists():
        _bootstrap(inputs, archive)
    with archive.open("rb") as data:
        client.api.import_image_from_data(data, repository=_BASE, tag=inputs.base_digest)
    return name


def _bootstrap(inputs: Inputs, archive: Path) -> None:
    program = shutil.which("debootstrap", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None or os.geteuid() != 0:
        raise UsageError(
            f"kindest/node of Kubernetes {inputs.release.version} cannot be pulled, and only root with debootstrap "
            "(Debian: apt install debootstrap) can build a node image"
        )
    with TemporaryDirectory(dir=archive.parent, prefix="debian-") as temporary:
        root, partial = Path(temporary) / "root", Path(temporary) / "base.tar"
        packages = ",".join(inputs.packages)
        with progress.step(f"fetching Debian {_SUITE}"):
            _run([program, "--variant=minbase", f"--include={packages}", _SUITE, str(root)], Path(temporary))
        excluded = ("./var/cache/apt/*", "./var/lib/apt/lists/*", "./usr/share/doc/*", "./usr/share/man/*", "./dev/*")
        _run(["tar", "-C", str(root), *(f"--exclude={path}" for path in excluded), "-cf", str(partial), "."], root)
        partial.rename(archive)


def _run(command: list[str], cwd: Path, environment: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        command, check=False, cwd=cwd, env=environment, capture_output=True, text=True, errors="replace"
    )
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise InfrastructureError(f"{Path(command[0]).name} failed: {lines[-1] if lines else 'no reason given'}")


def has(client: docker.DockerClient, name: str) -> bool:
    """Whether the engine has an image of this name."""
    try:
        client.images.get(name)
    except ImageNotFound:
        return False
    return True


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _digest(parts: list[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
