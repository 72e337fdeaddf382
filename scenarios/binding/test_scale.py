"""Many Pods in PreBind at the same time (BC-02)."""

import pytest

from fake_driver.profiles import fabric
from harness.clusters.protocol import BareNode
from harness.kube.builders import claim, on_node, pod, request
from harness.kube.predicates import all_of, allocated, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.binding.arrange import ATTACHED, Consumer, report

COUNT = 100

pytestmark = pytest.mark.needs("bare-nodes")


@pytest.mark.slow
@pytest.mark.statement("BC-02")
def test_a_hundred_pods_wait_at_once_and_are_bound_within_ten_seconds(
    scenario: Scenario, difference: Difference
) -> None:
    nodes = scenario.bare_nodes(*(BareNode(f"node-{at}", labels={"rack": scenario.namespace}) for at in range(4)))
    selector = {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": [scenario.namespace]}]}]
    }
    driver = scenario.driver(fabric(COUNT, name="fabric", node_selector=selector), plugin=False)
    made = []
    for at in range(COUNT):
        wanted = scenario.create(claim(f"claim-{at}", request(driver.device_class)))
        consumer = pod(f"pod-{at}", claims={"gpu": wanted}, labels={"waits": "yes"}, affinity=on_node(*nodes))
        made.append(Consumer(scenario.create(consumer), wanted))
    claims = scenario.waiter.wait_any("ResourceClaim", all_of(allocated(), COUNT), timeout=60)
    by_name = {found["metadata"]["name"]: found for found in claims}

    # All are in PreBind, and another Pod is placed meanwhile.
    other = scenario.create(pod("other", affinity=on_node(*nodes)))
    scenario.wait(other, scheduled())
    assert not any(scheduled()(found) for found in scenario.client.list("Pod", label_selector="waits=yes")[0])

    left_out = made[-1] if difference("one device is not attached") else None
    for held in made:
        if held is not left_out:
            report(driver, Consumer(held.pod, by_name[held.claim["metadata"]["name"]]), {ATTACHED: "True"})

    scenario.waiter.wait_any("Pod", all_of(scheduled(), COUNT), timeout=10, label_selector="waits=yes")
