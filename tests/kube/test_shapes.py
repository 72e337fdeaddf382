import copy
from collections.abc import Mapping
from typing import Any

import pytest

from fake_driver.inventory import Device, Pool
from harness import releases
from harness.drivers.shapes import fitted as pools_fitted
from harness.kube.builders import gang, pod, pod_group, pod_group_template, resource_slice, workload, workload_ref
from harness.kube.shapes import fitted

GROUP = pod_group("g", gang(2), disruption_mode={"all": {}}, workload=workload_ref("w", "t"))


def test_older_group() -> None:
    spec = fitted(copy.deepcopy(GROUP), releases.get("1.36"))["spec"]
    assert spec == {
        "schedulingPolicy": {"gang": {"minCount": 2}},
        "disruptionMode": "PodGroup",
        "podGroupTemplateRef": {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}},
    }


def test_older_template() -> None:
    template = pod_group_template("t", gang(2)) | {"disruptionMode": {"single": {}}}
    spec = fitted(workload("w", template), releases.get("1.36"))["spec"]
    assert spec["podGroupTemplates"][0]["disruptionMode"] == "Pod"


@pytest.mark.parametrize("release", [None, "1.37"])
def test_newest_shape_stays(release: str | None) -> None:
    assert fitted(copy.deepcopy(GROUP), releases.get(release) if release else None) == GROUP


def test_kind_of_one_shape_stays() -> None:
    assert fitted(pod("p"), releases.get("1.36")) == pod("p")


def test_group_of_a_release_whose_workloads_hold_the_groups() -> None:
    release = releases.get("1.35")
    made = fitted(pod_group("g", gang(2)), release)
    assert (made["kind"], made["metadata"]["name"]) == ("Workload", "g")
    assert made["spec"] == {"podGroups": [{"name": "g", "policy": {"gang": {"minCount": 2}}}]}
    member = fitted(pod("p", pod_group="g"), release)["spec"]
    assert member["workloadRef"] == {"name": "g", "podGroup": "g"}
    assert "schedulingGroup" not in member


def test_pods_of_no_group_and_objects_without_a_spec_stay() -> None:
    release = releases.get("1.35")
    assert fitted(pod("p"), release) == pod("p")
    assert fitted({"kind": "PodGroup", "metadata": {"name": "g"}}, release) == {
        "kind": "Workload",
        "metadata": {"name": "g"},
    }


FOOTPRINT = {
    "cpu": {"mapping": {"capacityKey": "cores", "capacityMultiplier": "2"}},
    "memory": {"mapping": {"deviceMultiplier": "4Gi"}},
}


def slice_with(footprint: Mapping[str, Any]) -> dict[str, Any]:
    return resource_slice("s", "d.example.com", [{"name": "d", "nodeAllocatableResources": footprint}], node="n")


def test_what_a_device_takes_of_its_node_was_a_mapping_without_overhead() -> None:
    (device,) = fitted(slice_with(FOOTPRINT), releases.get("1.36"))["spec"]["devices"]
    assert device == {
        "name": "d",
        "nodeAllocatableResourceMappings": {
            "cpu": {"capacityKey": "cores", "allocationMultiplier": "2"},
            "memory": {"allocationMultiplier": "4Gi"},
        },
    }

    costly = slice_with({"memory": {"overhead": {"perPod": "1Gi"}}})
    assert fitted(copy.deepcopy(costly), releases.get("1.36")) == costly


def test_pools_have_the_same_shape() -> None:
    pool = Pool(devices=[Device("d", node_allocatable_resources=FOOTPRINT)])
    (device,) = pools_fitted([pool], releases.get("1.36"))[0].devices
    (other,) = fitted(slice_with(FOOTPRINT), releases.get("1.36"))["spec"]["devices"]
    assert device.to_api() == other
    assert pools_fitted([pool], releases.get("1.37")) == (pool,)
