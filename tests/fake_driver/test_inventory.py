"""Devices in the API's form, templates, profiles."""

import pytest

from fake_driver.errors import ConfigError
from fake_driver.inventory import (
    Capacity,
    CounterConsumption,
    Device,
    Pool,
    Taint,
    Version,
    by_capacity,
    by_device,
    device_class,
    overhead,
    place,
)
from fake_driver.profiles import (
    PROFILES,
    accelerators,
    core_complexes,
    cpu_sockets,
    gpus,
    hugepages,
    mixed,
    partitionable,
    profile,
)


def test_a_device_has_the_form_of_the_api() -> None:
    device = Device(
        "d",
        attributes={"i": 0, "b": False, "s": "x", "v": Version("1.2.3"), "is": [1, 2], "vs": [Version("1.0.0")]},
        capacity={"memory": "80Gi", "bandwidth": Capacity("10Gi", {"default": "1Gi"})},
        taints=[Taint("k", "NoExecute", "v")],
        binds_to_node=True,
        binding_conditions=["ready"],
        binding_failure_conditions=["broken"],
        allow_multiple_allocations=True,
        consumes_counters=[CounterConsumption("set", {"memory": "40Gi"})],
    )
    assert device.to_api() == {
        "name": "d",
        "attributes": {
            "i": {"int": 0},
            "b": {"bool": False},
            "s": {"string": "x"},
            "v": {"version": "1.2.3"},
            "is": {"ints": [1, 2]},
            "vs": {"versions": ["1.0.0"]},
        },
        "capacity": {"memory": {"value": "80Gi"}, "bandwidth": {"value": "10Gi", "requestPolicy": {"default": "1Gi"}}},
        "taints": [{"key": "k", "value": "v", "effect": "NoExecute"}],
        "bindsToNode": True,
        "bindingConditions": ["ready"],
        "bindingFailureConditions": ["broken"],
        "allowMultipleAllocations": True,
        "consumesCounters": [{"counterSet": "set", "counters": {"memory": {"value": "40Gi"}}}],
    }


def test_a_plain_device_is_only_its_name() -> None:
    assert Device("d").to_api() == {"name": "d"}


def test_a_template_becomes_a_pool_on_each_node_with_uuids_of_its_own() -> None:
    first, second = place([gpus(2)], ["n1", "n2"])
    assert (first.name, first.node, second.name) == ("n1", "n1", "n2")
    uuids = [device.uuid for pool in (first, second) for device in pool.devices]
    assert len(set(uuids)) == 4
    assert place([gpus(2)], ["n1"]) == (first,)
    assert gpus(1, name="a").on("n1").name == "n1/a"
    assert place([Pool("net", all_nodes=True)], []) == (Pool("net", all_nodes=True),)


def test_a_pool_must_not_contradict_itself() -> None:
    with pytest.raises(ConfigError, match="only one of node"):
        Pool("p", node="n", all_nodes=True)
    with pytest.raises(ConfigError, match="needs a name"):
        Pool(all_nodes=True)
    with pytest.raises(ConfigError, match="needs a node"):
        place([gpus(1)], [])


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_has_devices_with_different_names(name: str) -> None:
    names = [device.name for device in profile(name, {}).devices]
    assert names
    assert len(names) == len(set(names))


def test_a_device_says_what_it_takes_of_its_node_in_the_form_of_the_api() -> None:
    device = Device(
        "d",
        node_allocatable_resources={
            "cpu": by_capacity("cores", "2") | overhead("1", "250m"),
            "memory": by_device("1Gi"),
            "hugepages-2Mi": overhead(per_container="0"),
        },
    )
    assert device.to_api()["nodeAllocatableResources"] == {
        "cpu": {
            "mapping": {"capacityKey": "cores", "capacityMultiplier": "2"},
            "overhead": {"perPod": "1", "perContainer": "250m"},
        },
        "memory": {"mapping": {"deviceMultiplier": "1Gi"}},
        "hugepages-2Mi": {"overhead": {"perContainer": "0"}},
    }


def test_what_the_profiles_take_of_their_node() -> None:
    taken = [
        pool.devices[0].to_api()["nodeAllocatableResources"]
        for pool in (cpu_sockets(multiplier="2"), hugepages(page="1Gi"), core_complexes(cpus="4"), accelerators())
    ]
    assert taken == [
        {"cpu": by_capacity("cpu", "2")},
        {"hugepages-1Gi": by_capacity("hugepages")},
        {"cpu": by_device("4")},
        {"memory": overhead("8Gi")},
    ]


def test_partitions_never_take_more_than_their_device_has() -> None:
    pool = partitionable(2)
    assert len(pool.devices) == 14
    for device in pool.devices:
        (consumption,) = device.consumes_counters
        assert consumption.counters.keys() == pool.shared_counters[consumption.counter_set].keys()
        assert {name: device.capacity[name] for name in consumption.counters} == consumption.counters
    assert mixed().shared_counters == partitionable(1).shared_counters


def test_unknown_profiles_and_parameters_are_named() -> None:
    with pytest.raises(ConfigError, match="unknown profile 'tpus'"):
        profile("tpus", {})
    with pytest.raises(ConfigError, match="cout"):
        profile("gpus", {"cout": 3})


def test_a_device_class_selects_the_driver() -> None:
    manifest = device_class("c", "gpu.example.com", "example.com/gpu")
    assert manifest["spec"] == {
        "selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}],
        "extendedResourceName": "example.com/gpu",
    }
