"""A profile: what a cluster shall have switched on, written as a kind Cluster file."""

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from harness.clusters.resolution import Resolution, Wish, resolve
from harness.errors import UsageError
from harness.releases import Release

#: Components that take feature gates; `*` in a variation stands for all of them.
COMPONENTS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet")

_KUBEADM_SECTIONS = {
    "kube-apiserver": "apiServer",
    "kube-controller-manager": "controllerManager",
    "kube-scheduler": "scheduler",
}

Gates = Mapping[str, Sequence[str]]

#: What kind's own reader would refuse, of the parts that are read here: the type of each item, None for a mapping.
_PARTS: Mapping[str, type | None] = {
    "featureGates": None,
    "runtimeConfig": None,
    "kubeadmConfigPatches": str,
    "nodes": dict,
}


@dataclass(frozen=True)
class Profile:
    """A kind Cluster file and, for a variation, the gates that differ from it."""

    name: str
    path: Path
    document: Mapping[str, Any] = field(repr=False)
    root: Path = field(repr=False, default=Path())
    """What relative host paths of the file are relative to (kind: the current directory)."""
    varied: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    args: Mapping[str, Sequence[str]] = field(default_factory=dict)
    broad: bool = False
    """Whether it comes with the project and lists what any supported release has."""

    def variation(
        self, *, off: Gates | None = None, on: Gates | None = None, args: Mapping[str, Sequence[str]] | None = None
    ) -> "Profile":
        """This profile with gates of single components the other way, and with further flags.

        Keys are component names or `*`: `off={"kube-scheduler": ["DRADeviceTaints"]}`. Raises UsageError for an
        unknown component; unknown gates are found by `resolve`.
        """
        varied = {component: dict(gates) for component, gates in self.varied.items()}
        for value, gates_of in ((False, off or {}), (True, on or {})):
            for component, gates in _by_component(gates_of):
                varied.setdefault(component, {}).update(dict.fromkeys(gates, value))
        more = dict(self.args)
        for component, flags in _by_component(args or {}):
            more[component] = [*more.get(component, ()), *flags]
        return replace(self, varied=varied, args=more)

    def with_nodes(self, count: int) -> "Profile":
        """This profile with so many nodes that run Pods, each like its first one, beside the control plane."""
        nodes = list(self.document.get("nodes") or [{"role": "control-plane"}])
        worker = next((node for node in nodes if node.get("role") == "worker"), {"role": "worker"})
        others = [node for node in nodes if node.get("role") != "worker"]
        document = {**self.document, "nodes": [*others, *([worker] * count)]}
        return replace(self, name=f"{self.name}-{count}-nodes", document=document)

    @property
    def key(self) -> str:
        """The name, with a digest of what a variation changes: equal keys may share a cluster."""
        if not self.varied and not self.args:
            return self.name
        difference = json.dumps([self.varied, self.args], sort_keys=True, default=list)
        return f"{self.name}-{hashlib.sha256(difference.encode()).hexdigest()[:8]}"

    def resolve(self, release: Release) -> Resolution:
        """What it means for a release. Raises UsageError for a gate or API version that no supported release has."""
        common = _gates(self.document.get("featureGates") or {}, self.path)
        patches = self._patches()
        kubelet = _merged(patches.get("KubeletConfiguration", []))
        kubelet_gates = _gates(kubelet.pop("featureGates", {}), self.path)
        served = dict(self.document.get("runtimeConfig") or {})
        flags = {component: self._flags(component, patches) for component in COMPONENTS}
        served |= _pairs(flags["kube-apiserver"].pop("runtime-config", ""))
        own = {
            component: _gates(_pairs(flags[component].pop("feature-gates", "")), self.path) for component in COMPONENTS
        }
        own["kubelet"] |= kubelet_gates
        scheduler = _known(self._mounted(flags["kube-scheduler"].pop("config", None)), release)
        wish = Wish(
            gates={component: {**common, **own[component]} for component in COMPONENTS},
            varied=self.varied,
            runtime_config={version: str(value).lower() == "true" for version, value in served.items()},
            broad=self.broad,
        )
        args = {
            component: (
                *(f"--{name}={value}" for name, value in flags[component].items()),
                *release.flags(component),
                *self.args.get(component, ()),
            )
            for component in COMPONENTS
        }
        return replace(resolve(wish, release), args=args, kubelet=kubelet, scheduler=scheduler, workers=self._workers())

    def _patches(self) -> dict[str, list[Mapping[str, Any]]]:
        patches: dict[str, list[Mapping[str, Any]]] = {}
        for text in self.document.get("kubeadmConfigPatches") or ():
            for patch in _documents(text, self.path):
                patches.setdefault(str(patch.get("kind")), []).append(patch)
        return patches

    def _flags(self, component: str, patches: Mapping[str, list[Mapping[str, Any]]]) -> dict[str, str]:
        section, flags = _KUBEADM_SECTIONS.get(component, ""), {}
        for patch in patches.get("ClusterConfiguration", ()):
            for item in (patch.get(section) or {}).get("extraArgs") or ():
                if not isinstance(item, Mapping) or "name" not in item:
                    raise UsageError(f"profile {self.path}: extraArgs of {section} must be a list of name and value")
                flags[str(item["name"])] = str(item.get("value", ""))
        return flags

    def _mounted(self, container_path: str | None) -> Mapping[str, Any]:
        """The content of a file that the profile mounts into the control plane's node."""
        if container_path is None:
            return {}
        for node in self.document.get("nodes") or ():
            for mount in node.get("extraMounts") or ():
                if mount.get("containerPath") == container_path:
                    return next(_documents(_read(self.root / mount["hostPath"]), self.path))
        raise UsageError(f"profile {self.path}: {container_path} is in no extraMounts of a node")

    def _workers(self) -> tuple[Mapping[str, str], ...]:
        """The labels of each node that runs Pods; the control plane's does when there is no other."""
        nodes = self.document.get("nodes") or [{"role": "control-plane"}]
        workers = [node for node in nodes if node.get("role") == "worker"] or nodes[:1]
        return tuple(dict(node.get("labels") or {}) for node in workers)


def load(name_or_path: str) -> Profile:
    """A profile that comes with the project, by its name, or any kind Cluster file, by its path.

    Raises UsageError when there is none or it is no kind Cluster file.
    """
    folder = directory()
    builtin = folder / f"{name_or_path}.yaml"
    is_path = "/" in name_or_path or name_or_path.endswith((".yaml", ".yml"))
    if not is_path and not builtin.exists():
        raise UsageError(f"there is no profile {name_or_path!r}; choose one of {', '.join(names())}, or give a path")
    path = Path(name_or_path) if is_path else builtin
    document = next(_documents(_read(path), path), {})
    if document.get("kind") != "Cluster" or not str(document.get("apiVersion", "")).startswith("kind.x-k8s.io/"):
        raise UsageError(f"profile {path} is no kind Cluster file (kind: Cluster, apiVersion: kind.x-k8s.io/v1alpha4)")
    for part, item in _PARTS.items():
        _check(part, document.get(part), item, path)
    return Profile(path.stem, path, document, Path.cwd() if is_path else folder.parent, broad=not is_path)


def _check(part: str, given: object, item: type | None, path: Path) -> None:
    """Raise UsageError for a part of the wrong shape; a part that is left out has none."""
    if item is None:
        fits, shape = isinstance(given, dict), "mapping"
    else:
        fits = isinstance(given, list) and all(isinstance(each, item) for each in given)
        shape = f"list of {'texts' if item is str else 'mappings'}"
    if given is not None and not fits:
        raise UsageError(f"profile {path}: {part} must be a {shape}, not {given!r}")


def names() -> tuple[str, ...]:
    """The profiles that come with the project."""
    files = [path for path in directory().glob("*.yaml") if "kind: Cluster\n" in path.read_text()]
    return tuple(sorted(path.stem for path in files))


def directory() -> Path:
    """The folder kind-configs: of the checkout, else of the installed package."""
    here = Path(__file__).resolve().parent
    checkout = here.parents[1] / "kind-configs"
    return checkout if checkout.is_dir() else here / "kind-configs"


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"profile {path} is no YAML: it is not text in UTF-8") from error


def _documents(text: str, path: Path) -> Iterator[dict[str, Any]]:
    try:
        documents = [document for document in yaml.safe_load_all(text) if document is not None]
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"profile {path} is no YAML: {' '.join(str(error).split())}") from error
    for document in documents:
        if not isinstance(document, dict):
            raise UsageError(f"profile {path}: expected a mapping, found {type(document).__name__}")
        yield document


def _known(scheduler: Mapping[str, Any], release: Release) -> Mapping[str, Any]:
    """The configuration without the argument that not every release's scheduler takes."""
    if release.has("DynamicResourcesArgs.bindingTimeout"):
        return scheduler
    kept = copy.deepcopy(dict(scheduler))
    for each in kept.get("profiles", ()):
        for plugin in each.get("pluginConfig", ()):
            plugin["args"].pop("bindingTimeout", None)
    return kept


def _merged(patches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    merged = {key: value for patch in patches for key, value in patch.items()}
    return {key: value for key, value in merged.items() if key not in ("kind", "apiVersion")}


def _by_component(given: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, Sequence[str]]]:
    for component, values in given.items():
        if component != "*" and component not in COMPONENTS:
            raise UsageError(f"unknown component {component!r}; choose one of {', '.join(COMPONENTS)} or *")
        yield from ((each, values) for each in (COMPONENTS if component == "*" else (component,)))


def _pairs(text: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in text.split(",") if pair)
    return {name: value if equals else "true" for name, equals, value in pairs}


def _gates(given: Mapping[str, Any], path: Path) -> dict[str, bool]:
    if not isinstance(given, Mapping):
        raise UsageError(f"profile {path}: featureGates must be a mapping, not {given!r}")
    gates = {}
    for name, value in given.items():
        if str(value).lower() not in ("true", "false"):
            raise UsageError(f"profile {path}: feature gate {name} must be true or false, not {value!r}")
        gates[name] = str(value).lower() == "true"
    return gates
