import copy

import pytest

from harness import releases
from harness.kube.builders import gang, pod, pod_group, pod_group_template, workload, workload_ref
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
