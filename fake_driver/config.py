"""The configuration file of `python -m fake_driver`.

kubeconfig: PATH            # left out: the Pod's service account
labels: {KEY: VALUE}        # on every object that is created
nodes:                      # whose kubelets are served
- {name: NODE, kubeletRoot: /var/lib/kubelet, cdiDir: /var/run/cdi}
drivers:
- name: gpu.example.com
  deviceClass: CLASS        # created if given
  nodes: [NODE]             # left out: all
  pools:
  - {profile: gpus, count: 8}                   # on each node; parameters of the profile in Python's spelling
  - {name: lan, allNodes: true, devices: [{name: nic-0, attributes: {speed: 100}}]}
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from fake_driver.errors import ConfigError
from fake_driver.inventory import Pool
from fake_driver.node import Node
from fake_driver.pool_file import parse_pool


@dataclass(frozen=True)
class DriverConfig:
    """One driver to serve."""

    name: str
    pools: tuple[Pool, ...]
    nodes: tuple[str, ...] | None = None
    device_class: str | None = None


@dataclass(frozen=True)
class Config:
    """All that the program is told."""

    nodes: tuple[Node, ...]
    drivers: tuple[DriverConfig, ...]
    kubeconfig: Path | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


def load(path: Path) -> Config:
    """Read a configuration file. Raises ConfigError with the place of the mistake."""
    try:
        content = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot read {path}: {' '.join(str(error).split())}") from error
    try:
        return _config(content)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    except TypeError as error:
        raise ConfigError(f"{path}: a value is of the wrong kind: {error}") from error


def _config(content: object) -> Config:
    config = _section(content, "the file", {"kubeconfig", "labels", "nodes", "drivers"}, {"drivers"})
    return Config(
        nodes=tuple(_node(node, f"nodes[{i}]") for i, node in enumerate(_items(config, "nodes"))),
        drivers=tuple(_driver(driver, f"drivers[{i}]") for i, driver in enumerate(_items(config, "drivers"))),
        kubeconfig=Path(config["kubeconfig"]) if "kubeconfig" in config else None,
        labels={str(name): str(value) for name, value in dict(config.get("labels") or {}).items()},
    )


def _node(content: object, where: str) -> Node:
    node = _section(content, where, {"name", "kubeletRoot", "cdiDir"}, {"name"})
    return Node(
        str(node["name"]),
        Path(node.get("kubeletRoot", "/var/lib/kubelet")),
        Path(node.get("cdiDir", "/var/run/cdi")),
    )


def _driver(content: object, where: str) -> DriverConfig:
    driver = _section(content, where, {"name", "deviceClass", "nodes", "pools"}, {"name"})
    pools = []
    for index, pool in enumerate(_items(driver, "pools")):
        try:
            pools.append(parse_pool(pool))
        except ConfigError as error:
            raise ConfigError(f"{where}.pools[{index}]: {error}") from error
    nodes = tuple(_items(driver, "nodes")) if "nodes" in driver else None
    return DriverConfig(str(driver["name"]), tuple(pools), nodes, driver.get("deviceClass"))


def _section(content: object, where: str, known: set[str], needed: set[str]) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ConfigError(f"{where} must be a mapping, not {content!r}")
    if unknown := content.keys() - known:
        raise ConfigError(
            f"{where}: unknown key {sorted(map(str, unknown))[0]!r}; known are {', '.join(sorted(known))}"
        )
    if missing := needed - content.keys():
        raise ConfigError(f"{where}: {sorted(missing)[0]!r} is missing")
    return content


def _items(section: Mapping[str, Any], key: str) -> list[Any]:
    items = section.get(key) or []
    if not isinstance(items, list):
        raise ConfigError(f"{key} must be a list, not {items!r}")
    return items
