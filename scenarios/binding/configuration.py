"""kube-scheduler with a configuration file of the scenario's own; the cluster must be lent alone."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import yaml

from harness.errors import InfrastructureError
from harness.plugin.scenario import Object, Scenario

API_VERSION = "kubescheduler.config.k8s.io/v1"


def document_example() -> Object:
    """The configuration as it stands in the document."""
    file = files("scenarios") / "examples" / "bc-scheduler-config.yaml"
    found: Object = yaml.safe_load(file.read_text("utf-8"))
    return found


def binding_timeout(configuration: Object) -> Object:
    """The arguments of DynamicResources in the configuration's first profile, to be changed in place."""
    arguments: Object = configuration["profiles"][0]["pluginConfig"][0]["args"]
    return arguments


def profile(name: str, timeout: str) -> Object:
    """A scheduler profile with a binding timeout."""
    arguments = {"apiVersion": API_VERSION, "kind": "DynamicResourcesArgs", "bindingTimeout": timeout}
    return {"schedulerName": name, "pluginConfig": [{"name": "DynamicResources", "args": arguments}]}


def run_scheduler(scenario: Scenario, configuration: Object, gates: Mapping[str, bool] | None = None) -> None:
    """Restart the scheduler with this configuration, completed with what it needs to reach the cluster at all.

    It logs its effective configuration. Raises InfrastructureError when it does not start.
    """
    flag = scenario.cluster.scheduler_flag(configuration)
    scenario.cluster.restart("kube-scheduler", gates=gates, args=[flag, "--v=2"])


def last_words(scenario: Scenario, configuration: Object, gates: Mapping[str, bool] | None = None) -> str:
    """What a scheduler that does not start with this configuration logs at last, without the log's own quoting."""
    try:
        run_scheduler(scenario, configuration, gates)
    except InfrastructureError as error:
        return str(error).replace('\\"', '"')
    raise AssertionError("the scheduler runs with this configuration")


def effective_arguments(scenario: Scenario, scheduler_name: str) -> Mapping[str, Any]:
    """The arguments of DynamicResources in a profile, as the scheduler itself says with which it runs."""
    said = scenario.cluster.log("kube-scheduler").rpartition('"Using component config"')[2]
    block = [line[1:] for line in said.splitlines()[1:] if line.startswith("\t")]
    (found,) = (
        plugin["args"]
        for profile in yaml.safe_load("\n".join(block))["profiles"]
        for plugin in profile["pluginConfig"]
        if (profile["schedulerName"], plugin["name"]) == (scheduler_name, "DynamicResources")
    )
    arguments: Mapping[str, Any] = found
    return arguments
