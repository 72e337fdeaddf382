"""Which cluster: a kubeconfig and one of its contexts, and a copy of just that for the run."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.errors import UsageError

#: Fields that name files, which a kubeconfig may do relative to itself.
_FILES = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


@dataclass(frozen=True)
class Target:
    """What the user named, checked as far as it can be without asking the cluster."""

    kubeconfig: Path
    context: str
    content: Mapping[str, Any]
    """A kubeconfig of this context alone."""
    driver_image: str | None = None
    """An image of the fake driver that the nodes can pull."""
    driver: str | None = None
    """A driver of the cluster that is looked at, so that none of ours is needed."""
    device_class: str | None = None
    """A class of that driver's devices."""

    def write(self, file: Path) -> None:
        """Write the copy, readable for its owner alone."""
        file.touch(mode=0o600)
        file.write_text(yaml.safe_dump(dict(self.content), sort_keys=False), encoding="utf-8")


def read(
    kubeconfig: Path | None, context: str | None = None, *, driver_image: str | None = None,
    driver: str | None = None, device_class: str | None = None,
) -> Target:  # fmt: skip
    """Read a kubeconfig; `context` is by default its current one. Raises UsageError."""
    if kubeconfig is None:
        raise UsageError("an existing cluster needs --kubeconfig FILE, and --context NAME for another than its current")
    if (driver is None) != (device_class is None):
        raise UsageError("a driver of the cluster's own needs both --driver NAME and --device-class CLASS")
    content = _content(kubeconfig)
    contexts = _named(content, "contexts", "context")
    chosen = context or content.get("current-context")
    if not chosen:
        raise UsageError(f"kubeconfig {kubeconfig} has no current context: name one with --context")
    if chosen not in contexts:
        raise UsageError(f"kubeconfig {kubeconfig} has no context {chosen}: choose one of {', '.join(contexts)}")
    parts = contexts[chosen]
    cluster = _part(_named(content, "clusters", "cluster"), parts.get("cluster"), kubeconfig)
    user = _part(_named(content, "users", "user"), parts.get("user"), kubeconfig)
    alone = _alone(cluster, user, kubeconfig.absolute().parent)
    return Target(kubeconfig, chosen, alone, driver_image, driver, device_class)


def _alone(cluster: Mapping[str, Any], user: Mapping[str, Any], beside: Path) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "existing",
        "contexts": [{"name": "existing", "context": {"cluster": "existing", "user": "existing"}}],
        "clusters": [{"name": "existing", "cluster": _absolute(cluster, beside)}],
        "users": [{"name": "existing", "user": _absolute(user, beside)}],
    }


def _absolute(part: Mapping[str, Any], beside: Path) -> dict[str, Any]:
    return {key: str(beside / value) if key in _FILES and value else value for key, value in part.items()}


def _content(kubeconfig: Path) -> Mapping[str, Any]:
    try:
        content = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read kubeconfig {kubeconfig}: {getattr(error, 'strerror', error)}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"kubeconfig {kubeconfig} is not YAML") from error
    if not isinstance(content, dict) or content.get("kind") != "Config":
        raise UsageError(f"{kubeconfig} is no kubeconfig (kind: Config)")
    return content


def _named(content: Mapping[str, Any], section: str, part: str) -> dict[str, Mapping[str, Any]]:
    entries = content.get(section) or ()
    return {str(each["name"]): each[part] or {} for each in entries if isinstance(each, dict) and part in each}


def _part(known: Mapping[str, Mapping[str, Any]], name: object, kubeconfig: Path) -> Mapping[str, Any]:
    if str(name) not in known:
        raise UsageError(f"kubeconfig {kubeconfig}: its context names {name}, which the file does not define")
    return known[str(name)]
