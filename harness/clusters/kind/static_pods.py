"""Components of the control plane, as the static Pods that they are in a cluster of kubeadm."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from harness.clusters.kind import nodes
from harness.clusters.kind.endings import Ending
from harness.clusters.kind.engine import Engine

_ORIGINALS = "/etc/kubernetes/dra-e2e-originals"
_STOPPED = "/etc/kubernetes/dra-e2e-stopped"
_MANIFESTS = "/etc/kubernetes/manifests"
_STARTED = "dra-e2e/started"  # an annotation that differs from start to start

# The kubelet takes a while to see that a manifest is gone, and grants thirty seconds then: the component loses nothing
# when it is killed sooner. It is gone when its Pod's sandbox is.
_STOP = """
mkdir -p "$2" && if [ -f "$1/$3.yaml" ]; then mv "$1/$3.yaml" "$2/$3.yaml"; fi
while [ -n "$(crictl pods --quiet --state ready --label component="$3")" ]; do
  running=$(crictl ps --quiet --name "^$3\\$")
  [ -z "$running" ] || crictl stop --timeout 1 $running >/dev/null 2>&1 || true
  sleep 0.1
done
"""

# Ends in earlier sandboxes are those of a component that was stopped.
_LAST_END = """
pod=$(crictl pods --quiet --latest --state ready --label component="$1")
[ -n "$pod" ] || exit 0
ended=$(crictl ps --all --quiet --latest --state exited --pod "$pod" --name "^$1\\$")
[ -n "$ended" ] || exit 0
echo "$ended"
crictl logs --tail 40 "$ended" 2>&1 || true
"""


@dataclass(frozen=True)
class StaticPods:
    """The static Pods of one control plane node."""

    engine: Engine
    node: str

    def keep_originals(self) -> None:
        """Remember every manifest as kubeadm wrote it."""
        nodes.execute(self.engine, self.node, ["cp", "-a", _MANIFESTS, _ORIGINALS])

    def stop(self, component: str) -> None:
        """Take its manifest away; returns when it is gone."""
        nodes.shell(self.engine, self.node, _STOP, _MANIFESTS, _STOPPED, component)

    def start(self, component: str) -> None:
        """Give its manifest back; does not wait."""
        path = f"{_STOPPED}/{component}.yaml"
        kept = nodes.shell(self.engine, self.node, 'if [ -f "$1" ]; then cat "$1"; fi', path)
        if kept:
            nodes.write(self.engine, self.node, path, yaml.safe_dump(another(yaml.safe_load(kept)), sort_keys=False))
            nodes.execute(self.engine, self.node, ["mv", path, f"{_MANIFESTS}/{component}.yaml"])

    def is_running(self, component: str) -> bool:
        """Whether its manifest is there; says nothing about its health."""
        script = '[ ! -f "$1/$2.yaml" ] || echo yes'
        return bool(nodes.shell(self.engine, self.node, script, _MANIFESTS, component))

    def last_end(self, component: str) -> Ending | None:
        """How it ended last since it was started, if ever."""
        which, _, log = nodes.shell(self.engine, self.node, _LAST_END, component).partition("\n")
        return Ending(which, log) if which else None

    def rewrite(self, component: str, gates: Mapping[str, bool], args: Sequence[str]) -> None:
        """Give a stopped component its original manifest with these gates and flags in addition."""
        original = nodes.execute(self.engine, self.node, ["cat", f"{_ORIGINALS}/{component}.yaml"])
        text = yaml.safe_dump(changed(yaml.safe_load(original), gates, args), sort_keys=False)
        nodes.write(self.engine, self.node, f"{_STOPPED}/{component}.yaml", text)


def another(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest of the same Pod that the kubelet takes for another one.

    By the same manifest it would know the Pod, take what was stopped for a crash, and wait longer each time.
    """
    manifest["metadata"].setdefault("annotations", {})[_STARTED] = secrets.token_hex(4)
    return manifest


def changed(manifest: dict[str, Any], gates: Mapping[str, bool], args: Sequence[str]) -> dict[str, Any]:
    """A manifest with further gates and flags; later ones win."""
    container = manifest["spec"]["containers"][0]
    flag = "--feature-gates="
    given = [each for each in container["command"] if each.startswith(flag)]
    merged = dict(pair.split("=") for text in given for pair in text.removeprefix(flag).split(","))
    merged |= {name: str(on).lower() for name, on in gates.items()}
    others = [each for each in container["command"] if not each.startswith(flag)]
    told = [flag + ",".join(f"{name}={value}" for name, value in sorted(merged.items()))] if merged else []
    container["command"] = [*others, *told, *args]
    return manifest
