"""The kind Cluster file of one cluster: a profile as resolved for a release, and what this host and harness need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.clusters.local.control_plane import AUDIT_POLICY, CLIENT_RATE
from harness.clusters.private import write_private
from harness.clusters.resolution import Resolution

#: Ports at which controller-manager and scheduler serve metrics and health.
CONTROLLER_MANAGER_PORT, SCHEDULER_PORT = 10257, 10259

_OURS = "/etc/kubernetes/dra-e2e"  # the folder of this cluster's files in the control plane's node

#: The folder there for configurations of the scheduler that come later.
SCHEDULERS = f"{_OURS}/schedulers"

_PKI = "/etc/kubernetes/pki"
_SECTIONS = {
    "kube-apiserver": "apiServer",
    "kube-controller-manager": "controllerManager",
    "kube-scheduler": "scheduler",
}
_KUBELET_DEFAULTS = "--runtime-cgroups=/system.slice/containerd.service"  # kind's own; the file is replaced whole
_DEFAULT_SCHEDULER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


@dataclass(frozen=True)
class Wanted:
    """What goes into the file."""

    resolution: Resolution
    args: Mapping[str, Sequence[str]]
    """The user's own further flags by component; they come last."""
    replaced: Mapping[str, Path]
    """The user's own programs by component."""
    cgroup_v1: bool
    restrict_oom_scores: bool


def write(wanted: Wanted, directory: Path) -> Path:
    """Write the file, and those that it mounts into nodes, below the cluster's directory; return its path."""
    files = directory / "node"
    write_private(files / "audit-policy.yaml", yaml.safe_dump(AUDIT_POLICY))
    write_private(files / "scheduler.yaml", scheduler(wanted.resolution.scheduler))
    kubelet = " ".join([_KUBELET_DEFAULTS, *_args(wanted, "kubelet")])
    write_private(files / "kubelet.env", f'KUBELET_EXTRA_ARGS="{kubelet}"\n')
    if "etcd" in wanted.replaced:
        write_private(files / "patches" / "etcd+json.yaml", yaml.safe_dump(_etcd_patch()))
    audit_log(directory).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    audit_log(directory).touch(mode=0o600)  # ours before kube-apiserver writes: it keeps owner and mode
    return write_private(directory / "kind.yaml", yaml.safe_dump(document(wanted, directory), sort_keys=False))


def scheduler(configuration: Mapping[str, Any]) -> str:
    """A KubeSchedulerConfiguration as a file's content, completed with what the scheduler needs in its node."""
    completed = {
        **_DEFAULT_SCHEDULER,
        **configuration,
        "clientConnection": {"kubeconfig": "/etc/kubernetes/scheduler.conf", **CLIENT_RATE},
        "leaderElection": {"leaderElect": False},
    }
    return yaml.safe_dump(completed, sort_keys=False)


def audit_log(directory: Path) -> Path:
    """Where the API server's audit log appears on this host."""
    return directory / "logs" / "audit" / "audit.log"


def document(wanted: Wanted, directory: Path) -> dict[str, Any]:
    """The content of the kind Cluster file."""
    mounts = _mounts(wanted, directory)
    control_plane = {
        "role": "control-plane",
        "extraMounts": [*mounts["kubelet"], *mounts["control-plane"]],
        "extraPortMappings": [
            {"containerPort": port, "hostPort": 0, "listenAddress": "127.0.0.1"}
            for port in (CONTROLLER_MANAGER_PORT, SCHEDULER_PORT)
        ],
    }
    workers = [
        {"role": "worker", "extraMounts": mounts["kubelet"], **({"labels": dict(labels)} if labels else {})}
        for labels in wanted.resolution.workers
    ]
    kubelet = {"failCgroupV1": False} if wanted.cgroup_v1 else {}
    configuration = {**kubelet, **wanted.resolution.kubelet, "featureGates": wanted.resolution.gates.get("kubelet", {})}
    patches = [
        # kind picks the kubeadm API by the release; of the two only the patch of the same version applies.
        _cluster_patch(wanted, "v1beta4", _named_values),
        _cluster_patch(wanted, "v1beta3", dict),
        {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", **configuration},
    ]
    if "etcd" in wanted.replaced:
        init = {"kind": "InitConfiguration", "patches": {"directory": f"{_OURS}/patches"}}
        patches += [{"apiVersion": f"kubeadm.k8s.io/{version}", **init} for version in ("v1beta4", "v1beta3")]
    return {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "networking": {"apiServerAddress": "127.0.0.1"},
        "kubeadmConfigPatches": [yaml.safe_dump(patch, sort_keys=False) for patch in patches],
        "containerdConfigPatches": [_OOM_PATCH] if wanted.restrict_oom_scores else [],
        "nodes": [control_plane, *workers],
    }


_OOM_PATCH = '[plugins."io.containerd.grpc.v1.cri"]\n  restrict_oom_score_adj = true\n'


def _cluster_patch(wanted: Wanted, version: str, shape: Any) -> dict[str, Any]:
    patch: dict[str, Any] = {"apiVersion": f"kubeadm.k8s.io/{version}", "kind": "ClusterConfiguration"}
    for component, section in _SECTIONS.items():
        patch[section] = {
            "extraArgs": shape(_pairs(_flags(wanted, component))),
            "extraVolumes": _volumes(wanted, component),
        }
    # Data that nobody needs after the run.
    patch["etcd"] = {"local": {"extraArgs": shape(_pairs(["--unsafe-no-fsync=true", *_args(wanted, "etcd")]))}}
    return patch


def _flags(wanted: Wanted, component: str) -> list[str]:
    served = _joined(wanted.resolution.runtime_config)
    gates = _joined(wanted.resolution.gates.get(component, {}))
    own = {
        "kube-apiserver": [
            *([f"--runtime-config={served}"] if served else []),
            f"--audit-policy-file={_OURS}/audit-policy.yaml",
            "--audit-log-path=/var/log/dra-e2e/audit.log",
        ],
        "kube-controller-manager": [
            *_SERVING,
            f"--kube-api-qps={CLIENT_RATE['qps']}",
            f"--kube-api-burst={CLIENT_RATE['burst']}",
        ],
        "kube-scheduler": [*_SERVING, f"--config={_OURS}/scheduler.yaml"],
    }
    return [*own[component], *([f"--feature-gates={gates}"] if gates else []), *_args(wanted, component)]


#: Published on loopback of the host by Docker, with the API server's certificate, which is valid there. A single
#: member need not be elected: a restarted one would wait for its predecessor's lease to end.
_SERVING = [
    "--bind-address=0.0.0.0",
    f"--tls-cert-file={_PKI}/apiserver.crt",
    f"--tls-private-key-file={_PKI}/apiserver.key",
    "--leader-elect=false",
]


def _args(wanted: Wanted, component: str) -> list[str]:
    return [*wanted.resolution.args.get(component, ()), *wanted.args.get(component, ())]


def _volumes(wanted: Wanted, component: str) -> list[dict[str, Any]]:
    volumes = []
    if component == "kube-apiserver":
        volumes.append(_volume("audit-policy", f"{_OURS}/audit-policy.yaml", "File"))
        volumes.append({**_volume("audit-log", "/var/log/dra-e2e", "DirectoryOrCreate"), "readOnly": False})
    if component == "kube-scheduler":
        volumes.append(_volume("scheduler-config", f"{_OURS}/scheduler.yaml", "File"))
        volumes.append(_volume("schedulers", SCHEDULERS, "DirectoryOrCreate"))
        volumes.append(_volume("pki", _PKI, "Directory"))
    if component in wanted.replaced:
        program = _volume("own-program", f"{_OURS}/bin/{component}", "File")
        volumes.append({**program, "mountPath": f"/usr/local/bin/{component}"})
    return volumes


def _volume(name: str, path: str, kind: str) -> dict[str, Any]:
    return {"name": f"dra-e2e-{name}", "hostPath": path, "mountPath": path, "readOnly": True, "pathType": kind}


def _etcd_patch() -> list[dict[str, Any]]:
    """kubeadm gives etcd no extraVolumes."""
    volume = {"name": "dra-e2e-own-program", "hostPath": {"path": f"{_OURS}/bin/etcd", "type": "File"}}
    mount = {"name": volume["name"], "mountPath": "/usr/local/bin/etcd", "readOnly": True}
    return [
        {"op": "add", "path": "/spec/volumes/-", "value": volume},
        {"op": "add", "path": "/spec/containers/0/volumeMounts/-", "value": mount},
    ]


def _mounts(wanted: Wanted, directory: Path) -> dict[str, list[dict[str, Any]]]:
    """Host paths for every node (`kubelet`) and for that of the control plane."""
    files = directory / "node"
    every = [_mount(files / "kubelet.env", "/etc/default/kubelet")]
    if "kubelet" in wanted.replaced:
        every.append(_mount(wanted.replaced["kubelet"], "/usr/bin/kubelet"))
    names = ["audit-policy.yaml", "scheduler.yaml", *(["patches"] if "etcd" in wanted.replaced else [])]
    control_plane = [
        *(_mount(files / name, f"{_OURS}/{name}") for name in names),
        {"hostPath": str(audit_log(directory).parent), "containerPath": "/var/log/dra-e2e"},
        *(
            _mount(path, f"{_OURS}/bin/{component}")
            for component, path in wanted.replaced.items()
            if component != "kubelet"
        ),
    ]
    return {"kubelet": every, "control-plane": control_plane}


def _mount(host: Path, container: str) -> dict[str, Any]:
    return {"hostPath": str(host), "containerPath": container, "readOnly": True}


def _joined(values: Mapping[str, bool]) -> str:
    return ",".join(f"{name}={str(value).lower()}" for name, value in sorted(values.items()))


def _pairs(flags: Sequence[str]) -> list[tuple[str, str]]:
    pairs = (flag.lstrip("-").partition("=") for flag in flags)
    return [(name, value if equals else "true") for name, equals, value in pairs]


def _named_values(pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]
