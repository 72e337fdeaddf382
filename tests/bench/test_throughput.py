import pytest

from fake_driver.layout import layout
from harness.bench import throughput
from harness.bench.workloads import CLAIM, DRIVER, GANG, PLAIN, SHARED, TAINTS, TOGETHER, Workload, available, names
from harness.clusters import profile
from harness.releases import get


def test_every_workload_meets_every_number_of_nodes() -> None:
    cells = [(cell.workload.name, cell.nodes) for cell in throughput.cells() if (cell.devices, cell.pods) == (8, 200)]
    assert sorted(cells) == sorted((each.name, nodes) for each in throughput.WORKLOADS for nodes in (100, 500, 1000))


def test_no_cell_is_measured_twice_nodes_only_grow_and_there_are_devices_for_all() -> None:
    cells = list(throughput.cells())
    assert len(set(cells)) == len(cells)
    assert [cell.nodes for cell in cells] == sorted(cell.nodes for cell in cells)
    assert all(cell.pods <= 0.9 * cell.nodes * cell.devices or cell.pods == 800 for cell in cells)
    assert all(cell.pods % cell.workload.size == 0 for cell in cells)


def test_each_node_has_one_slice_and_a_tenth_of_all_devices_is_tainted() -> None:
    slices = [layout(DRIVER, TAINTS.inventory(number, 8).on(f"node-{number}")) for number in range(100)]
    assert {len(parts) for parts in slices} == {1}
    tainted = [device for (part,) in slices for device in part.spec["devices"] if device.get("taints")]
    assert len(tainted) == 80


@pytest.mark.parametrize(("workload", "kinds"), [
    (PLAIN, ["Pod"]),
    (CLAIM, ["ResourceClaim", "Pod"]),
    (SHARED, ["ResourceClaim", *["Pod"] * TOGETHER]),
    (GANG, ["PodGroup", *["ResourceClaim"] * TOGETHER, *["Pod"] * TOGETHER]),
])  # fmt: skip
def test_units(workload: Workload, kinds: list[str]) -> None:
    made = workload.unit("one", "image")
    assert [obj["kind"] for obj in made] == kinds
    assert [obj["metadata"]["name"] for obj in made if obj["kind"] == "Pod"] == names(workload, "one")


@pytest.mark.parametrize(("release", "name", "there"), [
    ("1.37", "features", True), ("1.37", "off", False), ("1.36", "features", True), ("1.34", "features", False),
])  # fmt: skip
def test_gangs_are_measured_where_they_are_switched_on(release: str, name: str, there: bool) -> None:
    assert available(GANG, profile.load(name), get(release)) is there
    assert available(CLAIM, profile.load(name), get(release))
