"""Pools as plain data."""

import json

import pytest

from fake_driver.inventory import Capacity, CounterConsumption, Device, Pool, Taint, Version
from fake_driver.layout import layout
from fake_driver.pool_file import parse_pool, to_data
from fake_driver.profiles import PROFILES

RICH = Pool(
    name="rich",
    all_nodes=True,
    slice_count=0,
    generation=3,
    devices=(
        Device(
            "d",
            attributes={"list": [1, 2], "zero": 0, "no": False, "versions": [Version("1.0.0")]},
            capacity={"memory": Capacity("1Gi", {"default": "1Gi"}), "plain": "2"},
            taints=(Taint("k", "NoExecute", time_added="2026-01-01T00:00:00Z"),),
            consumes_counters=(CounterConsumption("set", {"c": "1"}, ("g",)),),
            node_allocatable_resources={"cpu": {"perDevice": "1"}},
        ),
    ),
)


@pytest.mark.parametrize("pool", [RICH, *(profile(name="p", node="n1") for profile in PROFILES.values())])
def test_a_pool_is_the_same_after_it_was_data(pool: Pool) -> None:
    again = parse_pool(json.loads(json.dumps(to_data(pool))))
    assert layout("gpu.example.com", again) == layout("gpu.example.com", pool)
    assert (again.slice_count, again.generation, again.node) == (pool.slice_count, pool.generation, pool.node)
