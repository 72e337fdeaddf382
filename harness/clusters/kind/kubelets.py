"""The kubelets of a cluster, as the systemd units that they are in kind's nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

from harness.clusters.kind import nodes
from harness.clusters.kind.endings import Ending
from harness.clusters.kind.engine import Engine

_CONFIGURATION = "/var/lib/kubelet/config.yaml"
_ORIGINAL = "/etc/kubernetes/dra-e2e-originals/kubelet.yaml"
_DEFAULTS = "/etc/default/kubelet"  # kind's unit reads KUBELET_EXTRA_ARGS from here
_EXTRA = "/etc/kubernetes/dra-e2e-kubelet.env"
_LAST_END = """
restarts=$(systemctl show kubelet --property=NRestarts --value)
[ "$restarts" != 0 ] || exit 0
echo "$restarts"
journalctl --unit=kubelet --no-pager --output=cat --lines=40
"""
_DROP_IN = "/etc/systemd/system/kubelet.service.d/20-dra-e2e.conf"


@dataclass(frozen=True)
class Kubelets:
    """The kubelets of one cluster's nodes."""

    engine: Engine

    def stop(self, node: str) -> None:
        """Stop it and return when it is gone; its containers run on."""
        nodes.execute(self.engine, node, ["systemctl", "stop", "kubelet"])

    def start(self, node: str) -> None:
        """Start it; does not wait."""
        nodes.execute(self.engine, node, ["systemctl", "start", "kubelet"])

    def is_running(self, node: str) -> bool:
        """Whether its process lives."""
        script = "systemctl is-active kubelet || true"
        return nodes.shell(self.engine, node, script).strip() == "active"

    def last_end(self, node: str) -> Ending | None:
        """How it ended last since it was started, if ever: systemd has counted."""
        which, _, log = nodes.shell(self.engine, node, _LAST_END).partition("\n")
        return Ending(which, log) if which else None

    def log(self, node: str) -> str:
        """Its log so far, over all its restarts."""
        command = ["journalctl", "--unit=kubelet", "--no-pager", "--output=cat"]
        return nodes.execute(self.engine, node, command)

    def rewrite(self, node: str, gates: Mapping[str, bool], args: Sequence[str]) -> None:
        """Give a stopped kubelet its original configuration with these gates and flags in addition."""
        keep = 'mkdir -p "$(dirname "$2")"; [ -f "$2" ] || cp "$1" "$2"; cat "$2"'
        configuration = yaml.safe_load(nodes.shell(self.engine, node, keep, _CONFIGURATION, _ORIGINAL))
        configuration["featureGates"] = {**(configuration.get("featureGates") or {}), **gates}
        nodes.write(self.engine, node, _CONFIGURATION, yaml.safe_dump(configuration))
        defaults = nodes.execute(self.engine, node, ["cat", _DEFAULTS])
        own = next((line for line in defaults.splitlines() if line.startswith("KUBELET_EXTRA_ARGS=")), "")
        value = own.partition("=")[2].strip('"')
        nodes.write(self.engine, node, _EXTRA, f'KUBELET_EXTRA_ARGS="{" ".join([value, *args])}"\n')
        nodes.write(self.engine, node, _DROP_IN, f"[Service]\nEnvironmentFile={_EXTRA}\n")
        nodes.execute(self.engine, node, ["systemctl", "daemon-reload"])
