"""The document's ResourceSlice with a fabric-attached GPU, and nodes for it."""

from collections.abc import Mapping
from copy import deepcopy
from importlib.resources import files
from typing import NamedTuple

import yaml

from harness.clusters.protocol import BareNode
from harness.drivers import Driver
from harness.plugin.scenario import Object, Scenario

#: The driver's name in the document; every scenario has a driver of its own.
DOCUMENT_DRIVER = "dra.example.com"

PREPARED, PREPARING_FAILED = "dra.example.com/is-prepared", "dra.example.com/preparing-failed"

#: The label by which the example selects nodes.
FAST, SLOW = {"accelerator-type": "high-performance"}, {"accelerator-type": "economy"}


def manifest() -> Object:
    """The slice as it stands in the document."""
    file = files("scenarios") / "examples" / "bc-resourceslice-gpu-slice-1.yaml"
    found: Object = yaml.safe_load(file.read_text("utf-8"))
    return found


class Example(NamedTuple):
    """The published slice, the driver that stands behind it, and the nodes by their names in the scenario."""

    driver: Driver
    slice: Object
    nodes: tuple[str, ...]


def publish(scenario: Scenario, *nodes: Mapping[str, str], changes: Object | None = None) -> Example:
    """Nodes with these labels and the document's slice, with a name and a driver of the scenario's own.

    `changes` are fields of its device.
    """
    driver = scenario.driver(plugin=False)
    wanted = manifest()
    wanted["metadata"]["name"] += f"-{scenario.namespace}"
    wanted["spec"]["driver"] = driver.name
    wanted["spec"]["devices"][0].update(changes or {})
    names = scenario.bare_nodes(*(BareNode(f"node-{at}", labels=labels) for at, labels in enumerate(nodes, start=1)))
    return Example(driver, scenario.create(deepcopy(wanted)), names)
