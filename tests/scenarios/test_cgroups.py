"""Control groups as recorded on nodes of either version."""

from decimal import Decimal

import pytest

from scenarios.node_allocatable.cgroups import ControlGroup, parse, weights

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

VERSION_1 = {
    "/node-cgroup/cpu,cpuacct/kubepods/burstable/pod1f2e-3d/cpu.shares": "3072\n",
    "/node-cgroup/cpu,cpuacct/kubepods/burstable/pod1f2e-3d/cpu.cfs_quota_us": "250000\n",
    "/node-cgroup/cpu,cpuacct/kubepods/burstable/pod1f2e-3d/cpu.cfs_period_us": "100000\n",
    "/node-cgroup/memory/kubepods/burstable/pod1f2e-3d/memory.limit_in_bytes": "1073741824\n",
    "/node-cgroup/hugetlb/kubepods/burstable/pod1f2e-3d/hugetlb.2MB.limit_in_bytes": "0\n",
}


def test_version_2() -> None:
    assert parse(VERSION_2) == ControlGroup(2, 118, Decimal(4), 3 * 2**30, {"2MB": 4 * 2**20, "1GB": None})


def test_version_1() -> None:
    assert parse(VERSION_1) == ControlGroup(1, 3072, Decimal("2.5"), 2**30, {"2MB": 0})


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
