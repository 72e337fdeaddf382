"""The publisher: least writes, generations, what it puts back."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from fake_driver.api import SLICES, ApiError
from fake_driver.errors import ConfigError
from fake_driver.inventory import Device, Pool, Taint
from fake_driver.profiles import gpus
from fake_driver.slices import Publisher
from tests.fake_driver.memory_api import TAINTED_AT, MemoryApi

DRIVER = "gpu.example.com"


@pytest.fixture
def api() -> MemoryApi:
    return MemoryApi()


@pytest.fixture
def publisher(api: MemoryApi) -> Iterator[Publisher]:
    publisher = Publisher(api, DRIVER, {"run": "r1"})
    yield publisher
    publisher.close()


def specs(api: MemoryApi) -> dict[str, Any]:
    return {item["metadata"]["name"]: item["spec"] for item in api.list(SLICES)["items"]}


def numbers(api: MemoryApi) -> list[tuple[int, int, int]]:
    """Generation, announced slices, devices of each slice."""
    return [
        (spec["pool"]["generation"], spec["pool"]["resourceSliceCount"], len(spec["devices"]))
        for spec in specs(api).values()
    ]


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def tainted(pool: Pool, index: int, *taints: Taint) -> Pool:
    devices = [replace(d, taints=taints) if i == index else d for i, d in enumerate(pool.devices)]
    return replace(pool, devices=devices)


def test_publishes_labelled_slices(api: MemoryApi, publisher: Publisher) -> None:
    publisher.publish([gpus(5, slice_size=2).on("n1")])
    assert numbers(api) == [(1, 3, 2), (1, 3, 2), (1, 3, 1)]
    assert api.list(SLICES)["items"][0]["metadata"]["labels"] == {"run": "r1"}


def test_writes_nothing_when_nothing_changes(api: MemoryApi, publisher: Publisher) -> None:
    pool = tainted(gpus(4, slice_size=2).on("n1"), 0, Taint("k", "NoSchedule"))
    publisher.publish([pool])
    api.forget_writes()
    publisher.publish([pool])
    publisher.publish([replace(pool)])
    assert api.writes == []


def test_a_change_within_one_slice_is_one_write_in_place(api: MemoryApi, publisher: Publisher) -> None:
    pool = gpus(4, slice_size=2).on("n1")
    publisher.publish([pool])
    api.forget_writes()
    publisher.publish([tainted(pool, 3, Taint("k", "NoSchedule"))])
    assert api.writes == [("replace", f"n1-{DRIVER}-n1-001")]
    assert numbers(api) == [(1, 2, 2), (1, 2, 2)]


def test_a_change_over_several_slices_is_a_new_generation(api: MemoryApi, publisher: Publisher) -> None:
    pool = gpus(4, slice_size=2).on("n1")
    publisher.publish([pool])
    publisher.publish([tainted(tainted(pool, 0, Taint("k", "NoSchedule")), 3, Taint("k", "NoSchedule"))])
    assert numbers(api) == [(2, 2, 2), (2, 2, 2)]


def test_fewer_slices_are_a_new_generation_and_the_surplus_goes(api: MemoryApi, publisher: Publisher) -> None:
    publisher.publish([gpus(4, slice_size=2).on("n1"), gpus(1).on("n2")])
    api.forget_writes()
    publisher.publish([gpus(2, slice_size=2).on("n1"), gpus(1).on("n2")])
    assert numbers(api) == [(2, 1, 2), (1, 1, 1)]
    assert api.writes == [("replace", f"n1-{DRIVER}-n1-000"), ("delete", f"n1-{DRIVER}-n1-001")]


def test_announced_numbers_can_be_wrong_on_request(api: MemoryApi, publisher: Publisher) -> None:
    publisher.publish([gpus(1, generation=7, slice_count=3).on("n1")])
    assert numbers(api) == [(7, 3, 1)]


def test_an_update_does_not_renew_the_time_of_a_taint(api: MemoryApi, publisher: Publisher) -> None:
    pool = tainted(gpus(4, slice_size=2).on("n1"), 0, Taint("k", "NoExecute"))
    publisher.publish([pool])
    api.forget_writes()
    publisher.publish([tainted(pool, 3, Taint("other", "NoSchedule"))])
    assert len(api.writes) == 1  # the slice whose taint now has a time has not changed
    publisher.publish([tainted(pool, 1, Taint("other", "NoSchedule"))])
    sent = publisher._published[f"n1-{DRIVER}-n1-000"].wanted
    assert sent["devices"][0]["taints"] == [{"key": "k", "effect": "NoExecute", "timeAdded": TAINTED_AT}]


def test_puts_back_what_somebody_deletes(api: MemoryApi, publisher: Publisher) -> None:
    publisher.publish([gpus(2).on("n1")])
    before = specs(api)
    api.delete(f"{SLICES}/n1-{DRIVER}-n1-000")
    eventually(lambda: specs(api) == before)


def test_puts_back_what_somebody_alters(api: MemoryApi, publisher: Publisher) -> None:
    publisher.publish([gpus(2).on("n1")])
    before = specs(api)
    altered = api.get(f"{SLICES}/n1-{DRIVER}-n1-000")
    altered["spec"]["devices"] = []
    api.replace(f"{SLICES}/n1-{DRIVER}-n1-000", altered)
    eventually(lambda: specs(api) == before)


def test_a_suspended_node_is_left_alone_until_it_is_resumed(api: MemoryApi, publisher: Publisher) -> None:
    publisher.publish([gpus(2).on("n1"), gpus(2).on("n2")])
    publisher.suspend("n1")
    before = specs(api)
    api.delete(f"{SLICES}/n1-{DRIVER}-n1-000")
    api.delete(f"{SLICES}/n2-{DRIVER}-n2-000")
    eventually(lambda: f"n2-{DRIVER}-n2-000" in specs(api))  # events come in order: n1's was seen before
    publisher.publish([gpus(3).on("n1"), gpus(2).on("n2")])
    assert list(specs(api)) == [f"n2-{DRIVER}-n2-000"]
    publisher.resume("n1")
    assert list(specs(api)) == list(before)
    assert [devices for _, _, devices in numbers(api)] == [3, 2]


def test_a_new_life_adopts_what_the_last_one_left(api: MemoryApi, publisher: Publisher) -> None:
    pool = gpus(4, slice_size=2).on("n1")
    publisher.publish([pool, gpus(1).on("gone")])
    publisher.close()
    api.forget_writes()
    second = Publisher(api, DRIVER)
    try:
        second.publish([pool])
        assert api.writes == [("delete", f"gone-{DRIVER}-gone-000")]
        assert numbers(api) == [(1, 2, 2), (1, 2, 2)]
    finally:
        second.close()


def test_a_conflict_is_overcome(api: MemoryApi, publisher: Publisher) -> None:
    pool = gpus(2).on("n1")
    publisher.publish([pool])
    publisher.suspend("n1")  # keeps the watch out of it
    altered = api.get(f"{SLICES}/n1-{DRIVER}-n1-000")
    altered["spec"]["devices"] = []
    api.replace(f"{SLICES}/n1-{DRIVER}-n1-000", altered)
    publisher._suspended.clear()
    publisher.publish([gpus(3).on("n1")])
    assert numbers(api) == [(1, 1, 3)]


def test_withdraw_leaves_nothing_of_the_driver_and_nothing_comes_back(api: MemoryApi, publisher: Publisher) -> None:
    other = Publisher(api, "other.example.com")
    other.publish([gpus(1).on("n1")])
    publisher.publish([gpus(2).on("n1")])
    publisher.withdraw()
    assert list(specs(api)) == ["n1-other.example.com-n1-000"]
    other.close()


def test_says_that_the_api_server_is_not_there(api: MemoryApi, publisher: Publisher) -> None:
    api.down = True
    with pytest.raises(ApiError, match="Unreachable"):
        publisher.publish([gpus(1).on("n1")])


@pytest.mark.parametrize("pools", [[gpus(1)], [Pool("a", [Device("d")], node="n"), Pool("a", node="m")]])
def test_refuses_pools_that_make_no_sense(publisher: Publisher, pools: list[Pool]) -> None:
    with pytest.raises(ConfigError, match=r"places? ?|called"):
        publisher.publish(pools)
