"""The controller half: what it writes about devices that have been allocated."""

import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from fake_driver.api import ApiError, Object, claim_path
from fake_driver.attachment import Allocated, Written, chosen_node, fail, flap, never, partly, succeed, wrong_device
from fake_driver.local_driver import LocalDriver
from tests.fake_driver.conftest import DRIVER, allocated
from tests.fake_driver.memory_api import MemoryApi

ON_N1 = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}
FABRIC = {"request": "gpu", "bindingConditions": ["Attached", "Ready"], "bindingFailureConditions": ["Broken"]}


def store(api: MemoryApi, *devices: str) -> dict[str, Any]:
    """A claim that has been given these devices for n1."""
    return allocated(api, "c1", *({**FABRIC, "device": device} for device in devices), node_selector=ON_N1)


def change(api: MemoryApi, claim: dict[str, Any], edit: Callable[[Object], object]) -> dict[str, Any]:
    body = deepcopy(api.get(claim_path("ns", claim["metadata"]["name"])))
    edit(body["status"])
    return api.replace(claim_path("ns", claim["metadata"]["name"]), body)


def statuses(api: MemoryApi, device: str = "gpu-0") -> dict[str, str]:
    entries = api.get(claim_path("ns", "c1"))["status"].get("devices", ())
    found = [entry["conditions"] for entry in entries if entry["device"] == device]
    return {condition["type"]: condition["status"] for conditions in found for condition in conditions}


def written(driver: LocalDriver, count: int = 1) -> tuple[Written, ...]:
    end = time.monotonic() + 5
    while len(driver.written) < count:
        assert time.monotonic() < end, f"only {driver.written} was written"
        time.sleep(0.01)
    return driver.written


def test_attaches_a_device_for_the_chosen_node(driver: LocalDriver, api: MemoryApi) -> None:
    driver.attach(succeed())
    store(api, "gpu-0")
    (done,) = written(driver)
    assert (done.of.node, done.of.pool, done.of.device, done.result) == ("n1", "n1", "gpu-0", "ok")
    assert statuses(api) == {"Attached": "True", "Ready": "True"}


def test_knows_what_was_allocated_before_it_came(driver: LocalDriver, api: MemoryApi) -> None:
    store(api, "gpu-0")
    driver.attach(partly())
    written(driver)
    assert statuses(api) == {"Attached": "True"}


def test_fails_one_device_and_attaches_the_others(driver: LocalDriver, api: MemoryApi) -> None:
    driver.attach(succeed())
    driver.attach(never(), node="n2")
    driver.attach(fail("no power"), device="gpu-1")
    store(api, "gpu-0", "gpu-1")
    written(driver, 2)
    assert statuses(api) == {"Attached": "True", "Ready": "True"}
    assert statuses(api, "gpu-1") == {"Broken": "True"}


def test_flaps(driver: LocalDriver, api: MemoryApi) -> None:
    driver.attach(flap(0.01))
    store(api, "gpu-0")
    assert [done.statuses["Ready"] for done in written(driver, 3)] == ["True", "False", "True"]


def test_takes_the_device_for_another_one(driver: LocalDriver, api: MemoryApi) -> None:
    driver.attach(wrong_device("gpu-7"))
    store(api, "gpu-0")
    assert written(driver)[0].of.device == "gpu-7"
    assert statuses(api) == {}


def test_starts_again_with_the_next_allocation_and_leaves_the_lost_one(driver: LocalDriver, api: MemoryApi) -> None:
    driver.attach(succeed(delay=0.5), device="gpu-0")
    driver.attach(succeed(delay=0.6), device="gpu-1")
    claim = store(api, "gpu-0")
    change(api, claim, lambda status: status.clear())
    again = {"devices": {"results": [{"driver": DRIVER, "pool": "n1", "device": "gpu-1", **FABRIC}]}}
    change(api, claim, lambda status: status.update(allocation=again))
    (done,) = written(driver)
    assert (done.of.device, done.of.node) == ("gpu-1", None)


def test_a_report_keeps_other_conditions_and_the_time_of_what_stays(driver: LocalDriver, api: MemoryApi) -> None:
    claim = store(api, "gpu-0")
    old = {"type": "Attached", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    change(
        api,
        claim,
        lambda s: s.update(devices=[{"driver": DRIVER, "pool": "n1", "device": "gpu-0", "conditions": [old]}]),
    )
    driver.report(claim, "n1", "gpu-0", {"Attached": "True", "Ready": "Unknown"}, "Hm", "not yet")
    (entry,) = api.get(claim_path("ns", "c1"))["status"]["devices"]
    attached, ready = entry["conditions"]
    assert attached["lastTransitionTime"] == old["lastTransitionTime"]
    assert (ready["status"], ready["reason"], ready["message"]) == ("Unknown", "Hm", "not yet")


def test_what_the_server_refuses_is_kept(driver: LocalDriver, api: MemoryApi, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Object:
        raise ApiError(403, "Forbidden", "no")

    monkeypatch.setattr(api, "apply", refuse)
    driver.attach(succeed())
    claim = store(api, "gpu-0")
    assert written(driver)[0].result == "no"
    with pytest.raises(ApiError, match="Forbidden"):
        driver.report(claim, "n1", "gpu-0", {"Attached": "True"})


def test_the_chosen_node_is_one_by_name() -> None:
    assert chosen_node({"nodeSelector": ON_N1}) == "n1"
    assert chosen_node({}) is None
    labels = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
    assert chosen_node({"nodeSelector": {"nodeSelectorTerms": [labels]}}) is None
    assert Allocated("ns", "c", "p", "d", None).binding_conditions == ()
