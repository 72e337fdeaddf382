"""How pools become slices."""

import pytest

from fake_driver.inventory import Device, Pool, Taint
from fake_driver.layout import MAX_NAME, layout
from fake_driver.profiles import gpus, partitionable


def sizes(pool: Pool) -> list[int]:
    return [len(part.spec.get("devices", ())) for part in layout("gpu.example.com", pool)]


def test_a_slice_takes_as_many_devices_as_the_api_allows() -> None:
    assert sizes(gpus(300).on("n")) == [128, 128, 44]


def test_devices_with_taints_or_counters_or_lists_need_smaller_slices() -> None:
    tainted = Device("t", taints=[Taint("k", "NoSchedule")])
    plain = [Device(f"d{i}") for i in range(127)]
    assert sizes(Pool("p", [*plain, tainted], all_nodes=True)) == [64, 64]
    assert sizes(Pool("p", [*plain, Device("l", attributes={"a": [1, 2]})], all_nodes=True)) == [64, 64]
    assert sizes(partitionable(10).on("n")) == [0, 0, 64, 6]  # ten counter sets, eight to a slice


def test_an_empty_pool_is_one_empty_slice() -> None:
    assert sizes(Pool("p", all_nodes=True)) == [0]


def test_names_sort_like_the_slices() -> None:
    names = [part.name for part in layout("gpu.example.com", gpus(12, slice_size=1).on("n1"))]
    assert names == sorted(names)
    assert names[0] == "n1-gpu.example.com-n1-000"


def test_given_names_are_used() -> None:
    pool = gpus(3, slice_size=1, slice_names=["b", "a"]).on("n")
    assert [part.name for part in layout("d", pool)] == ["b", "a", "n-d-n-002"]


@pytest.mark.parametrize("other", ["a/b", "A-b", "a-b" * 84])
def test_pools_whose_names_cannot_stand_as_they_are_never_share_a_name(other: str) -> None:
    names = {layout("d", Pool(name, all_nodes=True))[0].name for name in ("a-b", other)}
    assert len(names) == 2
    assert all(len(name) <= MAX_NAME and name == name.lower() and "/" not in name for name in names)


@pytest.mark.parametrize(
    ("pool", "expected"),
    [
        (Pool("p", node="n"), {"nodeName": "n"}),
        (Pool("p", all_nodes=True), {"allNodes": True}),
        (Pool("p", per_device=True), {"perDeviceNodeSelection": True}),
        (Pool("p", node_selector={"nodeSelectorTerms": []}), {"nodeSelector": {"nodeSelectorTerms": []}}),
    ],
)
def test_a_slice_says_where_its_devices_are(pool: Pool, expected: dict[str, object]) -> None:
    (part,) = layout("d", pool)
    assert part.spec == {"driver": "d", **expected}
