"""Resources that Pods request by a number, under `limits`, and what may stand behind them."""

from harness.clusters.protocol import BareNode
from harness.drivers import Driver
from harness.kube.builders import device_class
from harness.plugin.scenario import Object, Scenario


def own_resource(scenario: Scenario) -> str:
    """The name of an extended resource that nobody else uses."""
    return f"{scenario.namespace}.example.com/gpu"


def serve_by_dra(scenario: Scenario, driver: Driver, resource: str | None) -> None:
    """Let the driver's devices stand behind the resource (None: behind none), by a class of its own."""
    name = class_behind(resource) if resource else driver.name
    scenario.create(device_class(name, driver.name, extended_resource_name=resource))


def class_behind(resource: str) -> str:
    """The name of the class that `serve_by_dra` makes for the resource."""
    return resource.replace("/", ".")


def node_with_plugin(scenario: Scenario, resource: str, count: int) -> str:
    """A node that offers so many of the resource as a device plugin makes the kubelet offer them: in its capacity."""
    capacity = {"cpu": "8", "memory": "32Gi", "pods": "20", resource: str(count)}
    return scenario.bare_nodes(BareNode("plugin", capacity))[0]


def served_by_dra(consumer: Object) -> bool:
    """Whether the Pod's status says that devices were allocated for its extended resources."""
    return "extendedResourceClaimStatus" in consumer["status"]


def generated_claim(scenario: Scenario, consumer: Object) -> Object:
    """The claim that the scheduler made for the Pod's extended resources."""
    return scenario.client.get("ResourceClaim", consumer["status"]["extendedResourceClaimStatus"]["resourceClaimName"])
