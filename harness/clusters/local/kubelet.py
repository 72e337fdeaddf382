"""Real kubelets on this host, against a container runtime that pretends."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from harness.clusters.local.control_plane import CLUSTER_DNS, ControlPlane
from harness.clusters.private import write_private

# A kubelet sets kernel parameters, writes links below /var/log and has the socket for device plugins below /var/lib,
# whatever its flags say. In a mount namespace of its own it sees the first read-only and gets the others for itself;
# the volumes that it mounts vanish with it, however it ends.
_PRIVATE_HOST = " && ".join(
    (
        "mount --bind -o ro /proc/sys /proc/sys",
        "mount -t tmpfs dra-e2e /var/log",
        "mount -t tmpfs dra-e2e /var/lib",
        'exec "$0" "$@"',
    )
)


@dataclass(frozen=True)
class Node:
    """A node with a kubelet. `short` names its files, because socket paths must be short."""

    name: str
    short: str
    port: int


@dataclass(frozen=True)
class Kubelet:
    """One node's kubelet: its files and its command line."""

    control_plane: ControlPlane
    node: Node

    @property
    def root(self) -> Path:
        """The kubelet's --root-dir; plugin registration sockets go to `plugins_registry` in it."""
        return self.control_plane.directory / self.node.short

    @property
    def cdi(self) -> Path:
        """Where drivers of this node put CDI specs."""
        return self.control_plane.directory / "cdi" / self.node.short

    @property
    def runtime_socket(self) -> Path:
        """The container runtime's socket."""
        return self.control_plane.directory / "cri" / f"{self.node.short}.sock"

    def prepare(self, configuration: Mapping[str, Any]) -> None:
        """Write identity and KubeletConfiguration; `configuration` is the profile's, gates included."""
        for directory in (self.root, self.cdi):
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = self.node.name
        self.control_plane.add_identity(name, f"system:node:{name}", ["system:nodes"])
        serving = self.control_plane.authority.server(name, ["127.0.0.1", name])
        certificate, key = serving.write(self.control_plane.pki, name)
        merged = _merge(self._host_configuration(certificate, key), configuration)
        write_private(self._configuration_file, yaml.safe_dump(merged))

    def command(self, program: Path, labels: Mapping[str, str]) -> list[str]:
        """The whole command line."""
        flags = [
            f"--config={self._configuration_file}",
            f"--kubeconfig={self.control_plane.kubeconfig(self.node.name)}",
            f"--hostname-override={self.node.name}",
            f"--root-dir={self.root}",
            f"--cert-dir={self.root / 'pki'}",
            # Measuring containers that only pretend costs the processor of those who wait.
            "--housekeeping-interval=5m",
        ]
        if labels:
            flags.append("--node-labels=" + ",".join(f"{key}={value}" for key, value in sorted(labels.items())))
        return [*namespace_command(), "sh", "-c", _PRIVATE_HOST, str(program), *flags]

    @property
    def _configuration_file(self) -> Path:
        return self.control_plane.directory / f"{self.node.short}.yaml"

    def _host_configuration(self, certificate: Path, key: Path) -> dict[str, Any]:
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": "127.0.0.1",
            "port": self.node.port,
            "healthzPort": 0,
            "readOnlyPort": 0,
            "tlsCertFile": str(certificate),
            "tlsPrivateKeyFile": str(key),
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": str(self.control_plane.authority.certificate)},
            },
            "authorization": {"mode": "Webhook"},
            "containerRuntimeEndpoint": f"unix://{self.runtime_socket}",
            "podLogsDir": str(self.root / "pod-logs"),
            "volumePluginDir": str(self.root / "volume-plugins"),
            "resolvConf": "",
            # Nothing answers there, but without it every Pod gets a warning event.
            "clusterDNS": [CLUSTER_DNS],
            "clusterDomain": "cluster.local",
            # Several kubelets share this host: none may manage its cgroups, swap, firewall or disks.
            "cgroupDriver": "cgroupfs",
            "cgroupsPerQOS": False,
            "enforceNodeAllocatable": [],
            "failCgroupV1": False,
            "failSwapOn": False,
            "makeIPTablesUtilChains": False,
            "localStorageCapacityIsolation": False,
            "evictionHard": {},
            "imageGCHighThresholdPercent": 100,
            "oomScoreAdj": 0,
            "serializeImagePulls": False,
            "featureGates": {"KubeletInUserNamespace": True},
        }


@cache
def namespace_command() -> tuple[str, ...]:
    """The command that gives a kubelet a mount namespace, and the root of a user namespace.

    In a user namespace the kubelet does not insist on setting kernel parameters of the host; where none is allowed,
    root goes without. Empty when this host allows neither: then there are no kubelets.
    """
    if not shutil.which("unshare"):
        return ()
    mount = ("--mount", "--propagation=private")
    candidates: list[tuple[str, ...]] = [("unshare", "--user", "--map-root-user", *mount)]
    if os.geteuid() == 0:
        candidates.append(("unshare", *mount))
    return next((command for command in candidates if _runs(command)), ())


def _runs(command: Sequence[str]) -> bool:
    return subprocess.run([*command, "true"], check=False, capture_output=True).returncode == 0


def _merge(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """RFC 7386, as kind applies a profile's KubeletConfiguration."""
    merged = dict(base)
    for key, value in patch.items():
        if isinstance(value, Mapping):
            known = merged.get(key)
            merged[key] = _merge(known if isinstance(known, Mapping) else {}, value)
        else:
            merged[key] = value
    return {key: value for key, value in merged.items() if value is not None}
