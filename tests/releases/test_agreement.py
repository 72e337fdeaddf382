from harness import releases
from harness.releases import disagreements

RELEASE = releases.get("1.37")
ALL = {"kube-apiserver": list(RELEASE.gates), "kubelet": list(RELEASE.gates)}


def test_data_and_components_agree() -> None:
    assert disagreements(RELEASE, ALL) == []


def test_one_component_that_knows_a_gate_is_enough() -> None:
    assert disagreements(RELEASE, {**ALL, "kubelet": []}) == []


def test_a_gate_that_is_not_there_is_told() -> None:
    without = {component: [g for g in gates if g != "DRADeviceTaints"] for component, gates in ALL.items()}
    assert disagreements(RELEASE, without) == ["the data of 1.37 has gates that no component reports: DRADeviceTaints"]


def test_a_new_gate_of_the_families_under_test_is_told_and_others_are_not() -> None:
    more = {**ALL, "kubelet": [*RELEASE.gates, "DRANewThing", "PodGroupNewThing", "WindowsNewThing"]}
    assert disagreements(RELEASE, more) == [
        "components report gates that the data of 1.37 lacks: DRANewThing, PodGroupNewThing"
    ]


def test_gates_that_cannot_be_used_in_emulation_are_known() -> None:
    emulated = releases.get("1.36 emulated by 1.37")
    assert "GenericWorkload" not in emulated.gates
    own = [*emulated.gates, "GenericWorkload", "DRANewThing"]
    assert disagreements(emulated, {"kube-scheduler": own}) == [
        "components report gates that the data of 1.36 lacks: DRANewThing"
    ]


def test_nothing_reported_is_no_disagreement() -> None:
    assert disagreements(RELEASE, {}) == []
