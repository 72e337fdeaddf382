"""A controller other than the driver's own: what it writes into a claim's status, and with which rights."""

from datetime import UTC, datetime
from typing import Any

from harness.drivers import Driver
from harness.kube import Client
from harness.kube.builders import cluster_role, cluster_role_binding
from harness.kube.builders.cluster import rule
from harness.kube.predicates import allocation_results
from harness.kube.rights import may
from harness.kube.times import api_time
from harness.plugin.scenario import Object, Scenario

#: The gate of the rights to single drivers, and since when they are asked for.
GRANULAR = "DRAResourceClaimGranularStatusAuthorization"

_GROUP = "resource.k8s.io"


def written(type: str, **fields: Any) -> Object:
    """A condition with all five fields, True where `fields` say nothing else."""
    now = api_time(datetime.now(UTC))
    usual = {"status": "True", "reason": "Seen", "message": "in its slot", "lastTransitionTime": now}
    return {"type": type, **usual, **fields}


def apply(client: Client, driver: Driver, claim: Object, *conditions: Object) -> Object:
    """Report these conditions of the claim's one device. Raises ApiError."""
    (result,) = allocation_results(claim)
    entry = {"driver": driver.name, "pool": result["pool"], "device": result["device"], "conditions": list(conditions)}
    body = {
        "kind": "ResourceClaim",
        "metadata": {"name": claim["metadata"]["name"]},
        "status": {"devices": [entry]},
    }
    return client.apply(body, field_manager="a-controller", subresource="status")


def set_on_pod(scenario: Scenario, pod: Object, *conditions: Object) -> None:
    """Write these conditions where they do not count."""
    scenario.client.patch(pod, {"status": {"conditions": list(conditions)}}, type="strategic", subresource="status")


def entitle(scenario: Scenario, user: str, driver: str | None, *verbs: str) -> None:
    """Let a user read claims, patch and update their status, and do this to the status of a driver's devices.

    The rights are in force when this returns.
    """
    rules = [
        rule(_GROUP, ["resourceclaims"], ["get"]),
        rule(_GROUP, ["resourceclaims/status"], ["patch", "update"]),
    ]
    if driver:
        rules.append(rule(_GROUP, ["resourceclaims/driver"], verbs, [driver]))
    name = f"{scenario.namespace}-{len(verbs)}-{user.rpartition(':')[2]}"
    scenario.create(cluster_role(name, *rules))
    scenario.create(cluster_role_binding(name, name, user))
    writer = scenario.client.as_user(user)
    # A role becomes known to the API server as a whole.
    scenario.waiter.poll(
        lambda: may(writer, "patch", "resourceclaims/status", group=_GROUP, namespace=writer.namespace),
        bool,
        f"the API server knows the rights of {user}",
    )
