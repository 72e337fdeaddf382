"""How this host reaches a kind cluster: the kubeconfig that kind wrote, and endpoints of components."""

import base64
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from harness.clusters.kind import nodes
from harness.clusters.kind.engine import Engine
from harness.clusters.private import write_private
from harness.clusters.started.endpoint import Endpoint


class Access:
    """The administrator's identity in a cluster's directory, as files that TLS libraries take."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig, mode 0600."""
        return self.directory / "admin.kubeconfig"

    def unpack(self) -> int:
        """Write authority, certificate and key of the kubeconfig to files; returns the API server's port."""
        document = yaml.safe_load(self.kubeconfig.read_text("utf-8"))
        cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
        self._write("ca.crt", cluster["certificate-authority-data"])
        self._write("admin.crt", user["client-certificate-data"])
        self._write("admin.key", user["client-key-data"])
        port = urlsplit(cluster["server"]).port
        if port is None:
            raise ValueError(f"{self.kubeconfig}: {cluster['server']} names no port")
        return int(port)

    def endpoint(self, port: int) -> Endpoint:
        """A component's HTTPS endpoint at a loopback port, as the administrator."""
        pki = self.directory / "pki"
        return Endpoint(port, pki / "ca.crt", pki / "admin.crt", pki / "admin.key")

    def add_identity(self, engine: Engine, control_plane: str, user: str, groups: tuple[str, ...], port: int) -> Path:
        """Write a kubeconfig (0600) for a user of the cluster, whose certificate the cluster's authority signs."""
        flags = [f"--client-name={user}", *(f"--org={group}" for group in groups)]
        text = nodes.execute(engine, control_plane, ["kubeadm", "kubeconfig", "user", *flags])
        document: dict[str, Any] = yaml.safe_load(text)
        document["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
        name = re.sub(r"[^A-Za-z0-9.-]", "-", user)
        return write_private(self.directory / f"user-{name}.kubeconfig", yaml.safe_dump(document))

    def _write(self, name: str, data: str) -> None:
        write_private(self.directory / "pki" / name, base64.b64decode(data))
