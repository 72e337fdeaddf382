"""Every broken state is detected, and nothing else is."""

import copy

import pytest

from harness.faults.invariants import INVARIANTS, check
from harness.kube.resources import Obj
from tests.faults.cluster import NODE, Cluster, claim, device, group, pod, resource_slice, result, share

ONE, USER = claim("one", result("gpu-0"), users=["a"]), pod("a", "one")
PARTS = [resource_slice(*(device(f"part-{n}", draws="40Gi") for n in range(3)), counters="80Gi")]
SHARED = [resource_slice(device("gpu-0", shared=True))]


def deleted(obj: Obj) -> Obj:
    """The same, being deleted."""
    leaving = copy.deepcopy(obj)
    leaving["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    return leaving


def in_group(made: Obj, name: str) -> Obj:
    """The Pod as a member of a group."""
    made["spec"]["schedulingGroup"] = {"podGroupName": name}
    return made


def extended(made: Obj, name: str) -> Obj:
    """The Pod with a claim for its extended resources."""
    made["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": name, "requestMappings": []}
    return made


SANE = {
    "nothing": Cluster(),
    "a Pod with its device": Cluster(claims=[ONE], pods=[USER], prepared=["one"]),
    "a Pod with a claim made for it": Cluster(
        claims=[claim("one", result("gpu-0"), users=["a"], owner="a")],
        pods=[pod("a", "one", generated=True)],
        prepared=["one"],
    ),
    "a claim that nobody has used yet": Cluster(claims=[claim("one", allocated=False)]),
    "a Pod that is bound and not started yet": Cluster(
        claims=[claim("one", result("gpu-0"), users=["a"])], pods=[pod("a", "one", phase="Pending")], prepared=[]
    ),
    "a Pod whose node prepares": Cluster(
        claims=[claim("one", result("gpu-0"), users=["a"])], pods=[pod("a", "one", phase="Pending")], prepared=["one"]
    ),
    "a claim reserved for a Pod that waits for its node": Cluster(
        claims=[claim("one", result("gpu-0"), users=["a"])], pods=[pod("a", "one", phase="Pending", node=None)]
    ),
    "a Pod being deleted that still runs": Cluster(
        claims=[claim("one", result("gpu-0"), users=["a"])], pods=[deleted(pod("a", "one"))], prepared=["one"]
    ),
    "a Pod that has finished, and a claim that is free": Cluster(
        claims=[claim("one", allocated=False)], pods=[pod("a", "one", phase="Succeeded")], prepared=[]
    ),
    "two Pods with one claim": Cluster(
        claims=[claim("one", result("gpu-0"), users=["a", "b"])], pods=[pod("a", "one"), pod("b", "one")]
    ),
    "a claim that a group has reserved": Cluster(
        claims=[claim("one", result("gpu-0"), users=["gang"], resource="podgroups")],
        pods=[in_group(pod("a", "one"), "gang")],
        groups=[group("gang")],
    ),
    "an administrator who looks at a device in use": Cluster(
        claims=[ONE, claim("look", result("gpu-0", adminAccess=True), users=["b"])],
        pods=[USER, pod("b", "look")],
    ),
    "a device that is shared": Cluster(
        claims=[
            claim("one", share("gpu-0", "s1", "40Gi"), users=["a"]),
            claim("two", share("gpu-0", "s2", "40Gi"), users=["b"]),
        ],
        pods=[pod("a", "one"), pod("b", "two")],
        slices=SHARED,
    ),
    "all counters drawn": Cluster(
        claims=[claim("one", result("part-0"), result("part-1"), users=["a"])], pods=[pod("a", "one")], slices=PARTS
    ),
    "a shared device that draws from counters draws once": Cluster(
        claims=[
            claim("one", share("gpu-0", "s1", "1Gi"), users=["a"]),
            claim("two", share("gpu-0", "s2", "1Gi"), users=["b"]),
        ],
        pods=[pod("a", "one"), pod("b", "two")],
        slices=[resource_slice(device("gpu-0", shared=True, draws="80Gi"), counters="80Gi")],
    ),
    "slices that were deleted": Cluster(claims=[ONE], pods=[USER], slices=[], prepared=["one"]),
    "a pool that is not whole": Cluster(
        claims=[ONE], pods=[USER], slices=[resource_slice(device("gpu-1"), announced=2)], prepared=["one"]
    ),
    "a claim for extended resources": Cluster(
        claims=[claim("one", result("gpu-0"), users=["a"], owner="a")], pods=[extended(pod("a"), "one")],
        prepared=["one"],
    ),
    "a claim that is not to be prepared": Cluster(
        claims=[claim("one", result("gpu-0", skipNodeOperations=["*"]), users=["a"])],
        pods=[pod("a", "one")],
        prepared=[],
    ),
}  # fmt: skip

BROKEN = {
    "its claim does not exist": ("owned", Cluster(pods=[pod("a", "one")])),
    "its claim was never made": ("owned", Cluster(pods=[pod("a", "one", generated=True)])),
    "its claim is not allocated": (
        "owned",
        Cluster(claims=[claim("one", users=["a"], allocated=False)], pods=[pod("a", "one")]),
    ),
    "its claim is reserved for another Pod": (
        "owned",
        Cluster(claims=[claim("one", result("gpu-0"), users=["b"])], pods=[pod("a", "one"), pod("b", "one")]),
    ),
    "its claim is reserved for a Pod of its name that was there before": (
        "owned",
        Cluster(
            claims=[claim("one", result("gpu-0"), users=["a"])],
            pods=[pod("a", "one") | {"metadata": {"namespace": "default", "name": "a", "uid": "new"}}, pod("a", "one")],
        ),
    ),
    "its claim was made for another Pod": (
        "owned",
        Cluster(claims=[claim("one", result("gpu-0"), users=["a"], owner="b")], pods=[pod("a", "one", generated=True)]),
    ),
    "its claim is for another node": (
        "owned",
        Cluster(claims=[claim("one", result("gpu-0"), users=["a"], node="node-b")], pods=[pod("a", "one")]),
    ),
    "its pool is whole and does not have the device": (
        "owned",
        Cluster(claims=[ONE], pods=[USER], slices=[resource_slice(device("gpu-1"))]),
    ),
    "its extended resources' claim is not reserved": (
        "owned",
        Cluster(claims=[claim("one", result("gpu-0"), users=["b"])], pods=[extended(pod("a"), "one"), pod("b", "one")]),
    ),
    "two claims have one device": (
        "given once",
        Cluster(
            claims=[claim("one", result("gpu-0"), users=["a"]), claim("two", result("gpu-0"), users=["b"])],
            pods=[pod("a", "one"), pod("b", "two")],
        ),
    ),
    "a claim has one device twice": (
        "given once",
        Cluster(claims=[claim("one", result("gpu-0"), result("gpu-0"), users=["a"])], pods=[pod("a", "one")]),
    ),
    "two claims have a device that is not published": (
        "given once",
        Cluster(
            claims=[claim("one", result("gone"), users=["a"]), claim("two", result("gone"), users=["b"])],
            pods=[pod("a", "one"), pod("b", "two")],
            slices=[],
        ),
    ),
    "shares of a device that may not be shared": (
        "given once",
        Cluster(
            claims=[
                claim("one", share("gpu-0", "s1", "1Gi"), users=["a"]),
                claim("two", share("gpu-0", "s2", "1Gi"), users=["b"]),
            ],
            pods=[pod("a", "one"), pod("b", "two")],
        ),
    ),
    "one share is given to two claims": (
        "given once",
        Cluster(
            claims=[
                claim("one", share("gpu-0", "s1", "1Gi"), users=["a"]),
                claim("two", share("gpu-0", "s1", "1Gi"), users=["b"]),
            ],
            pods=[pod("a", "one"), pod("b", "two")],
            slices=SHARED,
        ),
    ),
    "more is consumed than there is": (
        "capacity",
        Cluster(
            claims=[
                claim("one", share("gpu-0", "s1", "50Gi"), users=["a"]),
                claim("two", share("gpu-0", "s2", "31Gi"), users=["b"]),
            ],
            pods=[pod("a", "one"), pod("b", "two")],
            slices=SHARED,
        ),
    ),
    "partitions draw more than there is": (
        "counters",
        Cluster(
            claims=[claim(f"c{n}", result(f"part-{n}"), users=[f"p{n}"]) for n in range(3)],
            pods=[pod(f"p{n}", f"c{n}") for n in range(3)],
            slices=PARTS,
        ),
    ),
    "reserved for a Pod that is gone": ("released", Cluster(claims=[claim("one", result("gpu-0"), users=["a"])])),
    "reserved for a Pod that has finished": (
        "released",
        Cluster(claims=[claim("one", result("gpu-0"), users=["a"])], pods=[pod("a", "one", phase="Failed")]),
    ),
    "reserved for a group that is gone": (
        "released",
        Cluster(claims=[claim("one", result("gpu-0"), users=["gang"], resource="podgroups")]),
    ),
    "allocated and reserved for nobody": ("released", Cluster(claims=[claim("one", result("gpu-0"))])),
    "prepared where no Pod uses it": (
        "prepared",
        Cluster(claims=[claim("one", allocated=False)], prepared=["one"]),
    ),
    "prepared, and the claim is gone": ("prepared", Cluster(prepared=["gone"])),
    "prepared for a Pod that has finished": (
        "prepared",
        Cluster(claims=[claim("one", allocated=False)], pods=[pod("a", "one", phase="Succeeded")], prepared=["one"]),
    ),
    "a Pod runs with a claim that is not prepared": ("prepared", Cluster(claims=[ONE], pods=[USER], prepared=[])),
}


@pytest.mark.parametrize("cluster", SANE.values(), ids=SANE.keys())
def test_sane(cluster: Cluster) -> None:
    assert check(cluster.state()) == []


@pytest.mark.parametrize(("invariant", "cluster"), BROKEN.values(), ids=BROKEN.keys())
def test_broken(invariant: str, cluster: Cluster) -> None:
    found = check(cluster.state())
    assert {violation.invariant for violation in found} == {invariant}
    assert all(violation.sentence and violation.evidence for violation in found)


def test_every_invariant_has_broken_states() -> None:
    assert {invariant for invariant, _ in BROKEN.values()} == {each.name for each in INVARIANTS}


def test_in_passing_only_what_must_always_be_true_counts() -> None:
    _, left_over = BROKEN["reserved for a Pod that is gone"]
    assert check(left_over.state(), at_rest=False) == []
    _, twice = BROKEN["two claims have one device"]
    assert [each.invariant for each in check(twice.state(), at_rest=False)] == ["given once"]


def test_a_violation_names_who_is_involved() -> None:
    _, twice = BROKEN["two claims have one device"]
    (violation,) = check(twice.state())
    assert violation.sentence == f"device gpu.example.com/{NODE}/gpu-0 is allocated 2 times"
    assert violation.evidence == (
        "ResourceClaim default/one, request gpu",
        "ResourceClaim default/two, request gpu",
    )
