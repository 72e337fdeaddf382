"""Control groups of either version; those of version 1 were recorded in a kind node of Kubernetes 1.37.2."""

from decimal import Decimal
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import pytest

from scenarios.node_allocatable.cgroups import ControlGroup, directories, parse, weights

POD = (
    "kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod1f2e_3d.slice"
)

VERSION_2 = {
    f"/node-cgroup/{POD}/cpu.weight": "118\n",
    f"/node-cgroup/{POD}/cpu.max": "400000 100000\n",
    f"/node-cgroup/{POD}/memory.max": "3221225472\n",
    f"/node-cgroup/{POD}/hugetlb.2MB.max": "4194304\n",
    f"/node-cgroup/{POD}/hugetlb.2MB.rsvd.max": "max\n",
    f"/node-cgroup/{POD}/hugetlb.1GB.max": "max\n",
}

#: A Pod with the containers `limited` (250m CPU at most, 128Mi) and `free` (asks for one CPU, has no limits).
VERSION_1 = Path(__file__).parent / "data" / "kind-node-cgroup-v1.txt"
UID = "4b099735-23ec-4d5d-9836-b21b1b10a58e"
LIMITED = "168171d642dd64b228d0f31362f59145b6f2a47d06dea632c5448adb6aa14414"
FREE = "c97230845a001ea060aa25b4420131e5bbf0aa84c77044ac8402f473f6828f77"


def recorded(*names: str) -> dict[str, str]:
    """The files of the recording in directories of such names."""
    lines = (line.split(" ", 1) for line in VERSION_1.read_text("utf-8").splitlines())
    return {path: text for path, text in lines if any(fnmatch(PurePosixPath(path).parent.name, name) for name in names)}


def test_version_2() -> None:
    assert parse(VERSION_2) == ControlGroup(2, 118, Decimal(4), 3 * 2**30, {"2MB": 4 * 2**20, "1GB": None})


def test_version_1() -> None:
    assert parse(recorded(*directories(UID, LIMITED))) == ControlGroup(1, 102, Decimal("0.25"), 128 * 2**20, {})
    assert parse(recorded(*directories(UID, FREE))) == ControlGroup(1, 1024, None, None, {})
    # A Pod is held to no limit as long as one of its containers has none.
    assert parse(recorded(*directories(UID))) == ControlGroup(1, 1126, None, None, {})


def test_huge_pages_of_version_1() -> None:
    files = {"a/cpu.shares": "2", "a/cpu.cfs_quota_us": "-1", "a/cpu.cfs_period_us": "100000"}
    files |= {"b/memory.limit_in_bytes": "4096", "c/hugetlb.2MB.limit_in_bytes": "0"}
    assert parse(files).huge_pages == {"2MB": 0}


def test_without_limits() -> None:
    files = {"a/cpu.weight": "1", "a/cpu.max": "max 100000", "a/memory.max": "max"}
    assert parse(files) == ControlGroup(2, 1, None, None, {})
    files = {
        "a/cpu.shares": "2",
        "a/cpu.cfs_quota_us": "-1",
        "a/cpu.cfs_period_us": "100000",
        "b/memory.limit_in_bytes": "9223372036854771712",
    }
    assert parse(files) == ControlGroup(1, 2, None, None, {})


def test_what_is_no_control_group() -> None:
    with pytest.raises(LookupError, match="no files"):
        parse({})


@pytest.mark.parametrize(
    ("cpus", "version", "expected"),
    [("3", 1, {3072}), ("0", 1, {2}), ("1", 2, {39, 100}), ("0", 2, {1}), ("256", 2, {10000})],
)
def test_weights_of_a_request(cpus: str, version: int, expected: set[int]) -> None:
    assert weights(Decimal(cpus), version) == expected
