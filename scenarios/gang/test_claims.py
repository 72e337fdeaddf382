"""A claim that a whole group shares (XD-27)."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import basic, claim, claim_template, gang, group_claim, pod_group, request
from harness.kube.predicates import (
    Predicate,
    allocated,
    count_of,
    gone,
    reserved_for,
    scheduled,
    scheduling_error,
    unallocated,
)
from harness.kube.refusals import refused
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.gang.arrange import JOB, SOON, Gang, bound, member, placed, room
from scenarios.taint.seen import slices_seen

pytestmark = pytest.mark.needs("bare-nodes")

#: How many consumers `status.reservedFor` of a claim has room for.
MOST = 256

#: The name of the claim in the group and in its Pods.
SHARED = "shared"


def claim_of(group: Object) -> str | None:
    """The name of the claim that was generated for a group, None while there is none."""
    statuses = (group.get("status") or {}).get("resourceClaimStatuses") or ()
    return next((str(each["resourceClaimName"]) for each in statuses if each["name"] == SHARED), None)


def generated(scenario: Scenario, group: Object) -> Object:
    """The claim that was generated for the group."""
    known = scenario.wait(group, Predicate("claim generated for the group", lambda found: claim_of(found) is not None))
    return scenario.client.get("ResourceClaim", claim_of(known))


@pytest.mark.slow
@pytest.mark.statement("XD-27")
def test_more_than_256_pods_share_the_claim_of_their_group(scenario: Scenario, difference: Difference) -> None:
    (node,) = room(scenario, 1)
    driver = scenario.driver(gpus(1), nodes=[node], plugin=False)
    slices_seen(scenario)
    own = scenario.create(claim("shared", request(driver.device_class)))
    of_pods = difference("the claim is one of the Pods, not of the group")
    entry = group_claim(SHARED, claim="shared")
    group = scenario.create(pod_group("workers", basic(), claims=[] if of_pods else [entry]))

    def create(number: int) -> Object:
        return member(scenario, "workers", number, group=group, claims={SHARED: own})

    scenario.wait(create(0), scheduled(node))
    scenario.wait(own, allocated() & reserved_for(group), SOON)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(create, range(1, MOST + 1)))

    every = count_of(scheduled(node), MOST + 1)
    found = scenario.waiter.wait_any("Pod", every, 60, label_selector=f"{JOB}=workers")
    shared = scenario.wait(own, allocated() & reserved_for(group))
    assert len(shared["status"]["reservedFor"]) == 1
    # One by one in the server, so many deletions would take longer than a request may.
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(scenario.client.delete, found))


@pytest.mark.statement("XD-27")
def test_gang_shares_one_claim_by_template_that_goes_with_it(scenario: Scenario, difference: Difference) -> None:
    (node,) = room(scenario, 1)
    driver = scenario.driver(gpus(1), nodes=[node], plugin=False)
    slices_seen(scenario)
    template = scenario.create(claim_template("gpu", request(driver.device_class)))
    each_its_own = difference("each Pod has a claim of its own from the template")
    entry = group_claim(SHARED, template="gpu")
    group = scenario.create(pod_group("workers", gang(3), claims=[] if each_its_own else [entry]))

    pods = [member(scenario, "workers", number, group=group, templates={SHARED: template}) for number in range(3)]

    # There is one GPU for the three of them.
    placed(scenario, Gang(group, pods))
    shared = scenario.wait(generated(scenario, group), allocated() & reserved_for(group))
    (owner,) = shared["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("PodGroup", "workers")
    # It outlives the Pods, and goes with the group.
    for each in pods:
        scenario.delete(each)
    assert scenario.client.find(shared)
    scenario.client.delete(group)
    scenario.wait(shared, gone())


@pytest.mark.control("XD-27")
def test_claim_that_the_group_does_not_name_is_reserved_for_each_pod(scenario: Scenario) -> None:
    (node,) = room(scenario, 1)
    driver = scenario.driver(gpus(1), nodes=[node], plugin=False)
    own = scenario.create(claim("shared", request(driver.device_class)))
    group = scenario.create(pod_group("workers", basic()))
    scenario.wait(own, unallocated())

    for number in range(3):
        scenario.wait(member(scenario, "workers", number, group=group, claims={SHARED: own}), scheduled(node))

    shared = scenario.wait(own, allocated())
    consumers = shared["status"]["reservedFor"]
    assert [each["name"] for each in consumers] == [f"workers-{at}" for at in range(3)]
    # There is room for no more than so many; the consumers of another kind are nobody's to take out.
    others = [other_consumer(number) for number in range(len(consumers), MOST)]
    refused(lambda: reserve(scenario, shared, [*consumers, *others, other_consumer(MOST)]), "status.reservedFor")
    scenario.on_exit(lambda: reserve(scenario, shared, []))
    reserve(scenario, shared, [*consumers, *others])
    scenario.wait(member(scenario, "workers", 3, group=group, claims={SHARED: own}), scheduling_error("reservation"))
    bound(scenario, "workers", 3)


def other_consumer(number: int) -> Object:
    """An entry of `status.reservedFor` that is neither a Pod's nor a group's."""
    return {"apiGroup": "example.com", "resource": "others", "name": f"other-{number}", "uid": f"other-{number}"}


def reserve(scenario: Scenario, taken: Object, consumers: Sequence[Object]) -> None:
    """Write down who uses the claim, whose Pods go on."""
    scenario.client.patch(taken, {"status": {"reservedFor": consumers}}, subresource="status")
