"""Short, explicit builders of API objects: plain dicts, in Kubernetes' own terms, without apiVersion.

pod("waiter", claims={"gpu": "one"})
claim("one", request("gpu.example.com", count=2, selectors=["device.attributes['gpu.example.com'].model == 'A'"]))
"""

from harness.kube.builders.claims import (
    ADMIN_ACCESS_LABEL,
    cel,
    claim,
    claim_spec,
    claim_template,
    device_class,
    device_toleration,
    distinct_attribute,
    first_available,
    match_attribute,
    opaque_config,
    request,
    subrequest,
)
from harness.kube.builders.cluster import cluster_role, cluster_role_binding, namespace, node, rule, service_account
from harness.kube.builders.devices import device_taint, device_taint_rule, resource_slice
from harness.kube.builders.pods import (
    DEFAULT_IMAGE,
    FOREVER,
    container,
    deployment,
    job,
    on_node,
    pod,
    runs_for,
    toleration,
)
from harness.kube.builders.scheduling import (
    basic,
    gang,
    group_claim,
    pod_group,
    pod_group_template,
    priority_class,
    workload,
)

__all__ = [
    "ADMIN_ACCESS_LABEL",
    "DEFAULT_IMAGE",
    "FOREVER",
    "basic",
    "cel",
    "claim",
    "claim_spec",
    "claim_template",
    "cluster_role",
    "cluster_role_binding",
    "container",
    "deployment",
    "device_class",
    "device_taint",
    "device_taint_rule",
    "device_toleration",
    "distinct_attribute",
    "first_available",
    "gang",
    "group_claim",
    "job",
    "match_attribute",
    "namespace",
    "node",
    "on_node",
    "opaque_config",
    "pod",
    "pod_group",
    "pod_group_template",
    "priority_class",
    "request",
    "resource_slice",
    "rule",
    "runs_for",
    "service_account",
    "subrequest",
    "toleration",
    "workload",
]
