"""The command lines of etcd and the control plane, and the files they read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.clusters.local.pki import Authority, service_account_key, write_kubeconfig
from harness.clusters.private import write_private

_SERVICE_RANGE = "10.96.0.0/16"
_SERVICE_ADDRESS = "10.96.0.1"
CLUSTER_DNS = "10.96.0.10"
CLIENT_RATE = {"qps": 5000, "burst": 10000}  # default limits would let many scenarios at once wait for each other

AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        # Heartbeats and probes say nothing about a scenario and would bury what does.
        {"level": "None", "nonResourceURLs": ["/healthz*", "/livez*", "/readyz*", "/metrics*", "/openapi*"]},
        {"level": "None", "resources": [{"group": "coordination.k8s.io", "resources": ["leases"]}]},
        {"level": "Metadata"},
    ],
}


@dataclass(frozen=True)
class Ports:
    """The loopback ports of one cluster."""

    etcd: int
    etcd_peer: int
    apiserver: int
    controller_manager: int
    scheduler: int


@dataclass(frozen=True)
class ControlPlane:
    """Where a control plane keeps its files and listens."""

    directory: Path
    ports: Ports

    @property
    def pki(self) -> Path:
        """Certificates and keys."""
        return self.directory / "pki"

    @property
    def server(self) -> str:
        """The API server's URL."""
        return f"https://127.0.0.1:{self.ports.apiserver}"

    @property
    def authority(self) -> Authority:
        """Signs the identities of the cluster's users and components."""
        return Authority(self.pki, "ca")

    @property
    def audit_log(self) -> Path:
        """The API server's audit log, JSON lines."""
        return self.directory / "logs" / "audit.log"

    def kubeconfig(self, name: str) -> Path:
        """The kubeconfig of a component or of `admin`."""
        return self.directory / f"{name}.kubeconfig"

    def prepare(self) -> None:
        """Write certificates, kubeconfigs and the audit policy."""
        for directory in (self.directory, self.pki, self.directory / "logs"):
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        # etcd trusts an authority of its own: otherwise every client of the cluster could read its store.
        etcd, cluster = Authority.create(self.pki, "etcd-ca"), Authority.create(self.pki, "ca")
        etcd.server("etcd", ["127.0.0.1"]).write(self.pki, "etcd")
        etcd.client("kube-apiserver").write(self.pki, "apiserver-etcd-client")
        names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost"]
        cluster.server("kube-apiserver", ["127.0.0.1", _SERVICE_ADDRESS, *names]).write(self.pki, "apiserver")
        cluster.client("kube-apiserver-kubelet-client", ["system:masters"]).write(self.pki, "apiserver-kubelet-client")
        for component in ("kube-controller-manager", "kube-scheduler"):
            cluster.server(component, ["127.0.0.1"]).write(self.pki, component)
            self.add_identity(component, f"system:{component}")
        cluster.client("dra-e2e-admin", ["system:masters"]).write(self.pki, "admin")
        self.add_identity("admin", "dra-e2e-admin", ["system:masters"])
        service_account_key(self.pki)
        write_private(self.directory / "audit-policy.yaml", yaml.safe_dump(AUDIT_POLICY))

    def add_identity(self, name: str, user: str, groups: Sequence[str] = ()) -> Path:
        """Write a kubeconfig (0600) for a user of the cluster."""
        pair = self.authority.client(user, groups)
        return write_kubeconfig(self.kubeconfig(name), self.server, self.authority.certificate, pair, user)

    def write_scheduler_configuration(self, configuration: Mapping[str, Any], name: str = "scheduler.yaml") -> Path:
        """Write the KubeSchedulerConfiguration, completed with what this host needs; returns where it is."""
        connection = {"kubeconfig": str(self.kubeconfig("kube-scheduler")), **CLIENT_RATE}
        completed = {**configuration, "clientConnection": connection, "leaderElection": {"leaderElect": False}}
        return write_private(self.directory / name, yaml.safe_dump(completed, sort_keys=False))

    def etcd(self) -> list[str]:
        """Flags of etcd: data that nobody needs after the run, so no fsync."""
        client, peer = f"https://127.0.0.1:{self.ports.etcd}", f"http://127.0.0.1:{self.ports.etcd_peer}"
        return [
            "--name=default",
            f"--data-dir={self.directory / 'etcd'}",
            "--unsafe-no-fsync",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            # A member without peers wins every election: it need not wait a second for others.
            "--heartbeat-interval=20",
            "--election-timeout=100",
            f"--cert-file={self.pki / 'etcd.crt'}",
            f"--key-file={self.pki / 'etcd.key'}",
            f"--trusted-ca-file={self.pki / 'etcd-ca.crt'}",
            "--client-cert-auth",
            "--watch-progress-notify-interval=5s",
        ]

    def apiserver(self, runtime_config: Mapping[str, bool]) -> list[str]:
        """Flags of kube-apiserver."""
        pki = self.pki
        flags = [
            "--bind-address=127.0.0.1",
            f"--secure-port={self.ports.apiserver}",
            "--advertise-address=127.0.0.1",
            # Endpoints may not name a loopback address; Pods that only pretend need no `kubernetes` Service.
            "--endpoint-reconciler-type=none",
            f"--service-cluster-ip-range={_SERVICE_RANGE}",
            f"--etcd-servers=https://127.0.0.1:{self.ports.etcd}",
            f"--etcd-cafile={pki / 'etcd-ca.crt'}",
            f"--etcd-certfile={pki / 'apiserver-etcd-client.crt'}",
            f"--etcd-keyfile={pki / 'apiserver-etcd-client.key'}",
            f"--tls-cert-file={pki / 'apiserver.crt'}",
            f"--tls-private-key-file={pki / 'apiserver.key'}",
            f"--client-ca-file={pki / 'ca.crt'}",
            "--anonymous-auth=false",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={pki / 'sa.pub'}",
            f"--service-account-signing-key-file={pki / 'sa.key'}",
            f"--kubelet-certificate-authority={pki / 'ca.crt'}",
            f"--kubelet-client-certificate={pki / 'apiserver-kubelet-client.crt'}",
            f"--kubelet-client-key={pki / 'apiserver-kubelet-client.key'}",
            f"--audit-policy-file={self.directory / 'audit-policy.yaml'}",
            f"--audit-log-path={self.audit_log}",
            "--allow-privileged",
        ]
        if runtime_config:
            served = ",".join(f"{version}={str(on).lower()}" for version, on in sorted(runtime_config.items()))
            flags.append(f"--runtime-config={served}")
        return flags

    def controller_manager(self) -> list[str]:
        """Flags of kube-controller-manager."""
        pki = self.pki
        return [
            f"--kubeconfig={self.kubeconfig('kube-controller-manager')}",
            *self._serving("kube-controller-manager", self.ports.controller_manager),
            "--leader-elect=false",
            "--use-service-account-credentials",
            f"--root-ca-file={pki / 'ca.crt'}",
            f"--service-account-private-key-file={pki / 'sa.key'}",
            f"--cluster-signing-cert-file={pki / 'ca.crt'}",
            f"--cluster-signing-key-file={pki / 'ca.key'}",
            f"--kube-api-qps={CLIENT_RATE['qps']}",
            f"--kube-api-burst={CLIENT_RATE['burst']}",
        ]

    def scheduler(self) -> list[str]:
        """Flags of kube-scheduler."""
        return [
            f"--config={self.directory / 'scheduler.yaml'}",
            *self._serving("kube-scheduler", self.ports.scheduler),
        ]

    def _serving(self, component: str, port: int) -> list[str]:
        kubeconfig = self.kubeconfig(component)
        return [
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--tls-cert-file={self.pki / component}.crt",
            f"--tls-private-key-file={self.pki / component}.key",
            f"--client-ca-file={self.pki / 'ca.crt'}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            # The authority is given above: looking it up would only make the start wait for the API server.
            "--authentication-skip-lookup",
        ]
