"""The documents' two ResourceSlices, as printed and in the shape of the 1.37 API, for a node of the scenario's own."""

from importlib.resources import files
from typing import NamedTuple

import yaml

from harness.drivers import Driver
from harness.plugin.scenario import Object, Scenario

#: Pools of CPUs, and an accelerator that costs host memory: the files' names without ending.
CPUS, XPUS = "na-cpu-mapping", "na-xpu-overhead"

#: The capacity of the example's CPU sockets.
CPU = "cpu.example.com/cpu"


class Example(NamedTuple):
    """A slice of the documents, not yet written, and the driver that it says it is of."""

    driver: Driver
    slice: Object


def example(scenario: Scenario, name: str, node: str, *, printed: bool = False) -> Example:
    """The slice with a name and a driver of the scenario's own, for that node.

    `printed` is the form that the document has; without it, the same content in the shape of the 1.37 API.
    """
    file = name if printed else f"{name}.api-1.37"
    wanted: Object = yaml.safe_load((files("scenarios") / "examples" / f"{file}.yaml").read_text("utf-8"))
    driver = scenario.driver(plugin=False)
    wanted["metadata"]["name"] += f"-{scenario.namespace}"
    wanted["spec"] |= {"driver": driver.name, "nodeName": node}
    return Example(driver, wanted)


def publish(scenario: Scenario, name: str, node: str) -> Example:
    """The slice in the shape of the 1.37 API, stored."""
    made = example(scenario, name, node)
    return Example(made.driver, scenario.create(made.slice))
