"""Where each program comes from: one row per program, one project per group of programs released together."""

from dataclasses import dataclass

from harness.errors import UsageError
from harness.programs.program import Artifact
from harness.releases import Release


@dataclass(frozen=True)
class Project:
    """A release of one project: what its programs have in common.

    In templates `{version}` is `v1.2.3`, `{bare}` the same without the v, `{major}` and `{minor}` its parts,
    `{os}`, `{arch}` and `{name}` those of the program, `{file}` the address of the file itself.
    """

    module: str
    """The Go module to build from."""
    file: str
    """Address of the official download: the program itself, or an archive that holds it."""
    checksum: str = "{file}.sha256"
    """Address of the published SHA-256: bare, or lines of `sum  name`."""
    component: str | None = None
    """The release's name for this component; None for what carries the Kubernetes version itself."""
    stamps: tuple[str, ...] = ()
    """Variables that the linker sets, so that the program knows its version."""
    tags: tuple[str, ...] = ()
    """Go build tags."""

    def version(self, release: Release) -> str:
        """Return the version of this project that goes with the release."""
        return release.version if self.component is None else release.component_version(self.component)


@dataclass(frozen=True)
class Recipe:
    """How to get one program."""

    name: str
    project: Project
    package: str = ""
    """Folder of its main package in the module."""
    member: str | None = None
    """Its path in the downloaded archive; None where the download is the program."""

    @property
    def import_path(self) -> str:
        """The Go import path of the main package."""
        return f"{self.project.module}/{self.package}" if self.package else self.project.module

    def address(self, artifact: Artifact) -> str:
        """Return the address of the official download."""
        return fill(self.project.file, artifact)

    def checksum_address(self, artifact: Artifact) -> str:
        """Return the address of the published SHA-256."""
        return fill(self.project.checksum, artifact, file=self.address(artifact))


def fill(template: str, artifact: Artifact, **more: str) -> str:
    """Fill a template of a Project for an artifact."""
    bare = artifact.version.removeprefix("v")
    major, minor, *_ = bare.split(".")
    return template.format(
        version=artifact.version,
        bare=bare,
        major=major,
        minor=minor,
        os=artifact.platform.os,
        arch=artifact.platform.arch,
        name=artifact.name,
        **more,
    )


KUBERNETES = Project(
    module="k8s.io/kubernetes",
    file="https://dl.k8s.io/release/{version}/bin/{os}/{arch}/{name}",
    stamps=tuple(
        f"{package}.{variable}={value}"
        for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
        for variable, value in (("gitVersion", "{version}"), ("gitMajor", "{major}"), ("gitMinor", "{minor}"))
    ),
)
ETCD = Project(
    component="etcd",
    module="go.etcd.io/etcd/server/v3",
    file="https://github.com/etcd-io/etcd/releases/download/{version}/etcd-{version}-{os}-{arch}.tar.gz",
    checksum="https://github.com/etcd-io/etcd/releases/download/{version}/SHA256SUMS",
)
# Without a published sum, kwok is always built.
KWOK = Project(
    component="kwok",
    module="sigs.k8s.io/kwok",
    file="https://github.com/kubernetes-sigs/kwok/releases/download/{version}/{name}-{os}-{arch}",
    checksum="https://github.com/kubernetes-sigs/kwok/releases/download/{version}/SHA256SUMS",
)
KIND = Project(
    component="kind",
    module="sigs.k8s.io/kind",
    file="https://github.com/kubernetes-sigs/kind/releases/download/{version}/kind-{os}-{arch}",
    checksum="{file}.sha256sum",
)
CONTAINERD = Project(
    component="containerd",
    module="github.com/containerd/containerd/v2",
    file="https://github.com/containerd/containerd/releases/download/{version}/containerd-static-{bare}-{os}-{arch}.tar.gz",
    checksum="{file}.sha256sum",
    stamps=("github.com/containerd/containerd/v2/version.Version={version}",),
    # Snapshotters that need C libraries or kernel modules; nodes use overlayfs.
    tags=("no_aufs", "no_btrfs", "no_devmapper", "no_zfs"),
)
CRI_TOOLS = Project(
    component="crictl",
    module="sigs.k8s.io/cri-tools",
    file="https://github.com/kubernetes-sigs/cri-tools/releases/download/{version}/crictl-{version}-{os}-{arch}.tar.gz",
    stamps=("sigs.k8s.io/cri-tools/pkg/version.Version={bare}",),
)
COREDNS = Project(
    component="coredns",
    module="github.com/coredns/coredns",
    file="https://github.com/coredns/coredns/releases/download/{version}/coredns_{bare}_{os}_{arch}.tgz",
)
CNI = Project(
    component="cni-plugins",
    module="github.com/containernetworking/plugins",
    file="https://github.com/containernetworking/plugins/releases/download/{version}/cni-plugins-{os}-{arch}-{version}.tgz",
    stamps=("github.com/containernetworking/plugins/pkg/utils/buildversion.BuildVersion={version}",),
)

KUBERNETES_PROGRAMS = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kubectl",
    "kubeadm",
    "kube-proxy",
)
CONTAINERD_PROGRAMS = ("containerd", "containerd-shim-runc-v2", "ctr")
CNI_PLUGINS = {"bridge": "main", "host-local": "ipam", "loopback": "main", "portmap": "meta", "ptp": "main"}

RECIPES = {
    recipe.name: recipe
    for recipe in (
        *(Recipe(name, KUBERNETES, f"cmd/{name}") for name in KUBERNETES_PROGRAMS),
        Recipe("etcd", ETCD, member="etcd-{version}-{os}-{arch}/etcd"),
        Recipe("kwok", KWOK, "cmd/kwok"),
        Recipe("kind", KIND),
        *(Recipe(name, CONTAINERD, f"cmd/{name}", f"bin/{name}") for name in CONTAINERD_PROGRAMS),
        Recipe("crictl", CRI_TOOLS, "cmd/crictl", "crictl"),
        Recipe("coredns", COREDNS, member="coredns"),
        *(Recipe(name, CNI, f"plugins/{kind}/{name}", name) for name, kind in CNI_PLUGINS.items()),
    )
}


def recipe_for(name: str) -> Recipe:
    """Return the recipe of a program. Raises UsageError, with the known names, for one that is not in the table."""
    try:
        return RECIPES[name]
    except KeyError:
        raise UsageError(f"unknown program {name!r}; known are {', '.join(sorted(RECIPES))}") from None
