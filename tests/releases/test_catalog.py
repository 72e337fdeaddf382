import pytest

from harness import releases
from harness.errors import UsageError


@pytest.fixture(params=releases.supported())
def release(request: pytest.FixtureRequest) -> releases.Release:
    return releases.get(request.param)


def test_newest_comes_first() -> None:
    assert releases.supported() == ("1.37", "1.36", "1.35", "1.34")
    assert releases.get().minor == releases.get(None).minor == "1.37"


@pytest.mark.parametrize("name", ["1.36", "v1.36", "1.36.4", "v1.36.4"])
def test_release_has_several_spellings(name: str) -> None:
    assert releases.get(name).version == "v1.36.4"


@pytest.mark.parametrize("name", ["1.33", "v1.36.3", "newest", ""])
def test_unknown_release_names_the_supported_ones(name: str) -> None:
    with pytest.raises(UsageError, match=r"1\.37 \(v1\.37\.2\), 1\.36"):
        releases.get(name)


def test_gates_need_gates_of_the_same_release(release: releases.Release) -> None:
    unknown = {(gate.name, need) for gate in release.gates.values() for need in gate.needs if need not in release.gates}
    assert not unknown


def test_no_default_contradicts_what_it_needs(release: releases.Release) -> None:
    wrong = [
        (gate.name, need)
        for gate in release.gates.values()
        for need in gate.needs
        if gate.default and not release.gates[need].default
    ]
    assert not wrong


def test_gate_facts() -> None:
    rules = {minor: releases.get(minor).gate("DRADeviceTaintRules") for minor in releases.supported()}
    assert rules["1.34"] is None
    needs, kinds = ("DRADeviceTaints",), ("DeviceTaintRule",)
    assert rules["1.36"] == releases.Gate("DRADeviceTaintRules", "beta", False, False, needs, kinds=kinds)
    assert rules["1.37"] == releases.Gate("DRADeviceTaintRules", "ga", True, False, needs, kinds=kinds)


def test_gate_that_one_component_refuses() -> None:
    gate = releases.get("1.37").gate("ControllerManagerReleaseLeaderElectionLockOnExit")
    assert gate is not None
    assert gate.unknown_to == ("kube-scheduler",)


@pytest.mark.parametrize(
    ("kind", "minor", "version"),
    [
        ("DeviceTaintRule", "1.37", "resource.k8s.io/v1"),
        ("DeviceTaintRule", "1.36", "resource.k8s.io/v1beta2"),
        ("DeviceTaintRule", "1.34", "resource.k8s.io/v1alpha3"),
        ("PodGroup", "1.37", "scheduling.k8s.io/v1beta1"),
        ("PodGroup", "1.35", None),
        ("Pod", "1.34", "v1"),
    ],
)
def test_api_version(kind: str, minor: str, version: str | None) -> None:
    assert releases.get(minor).api_version(kind) == version


def test_runtime_config_of_kinds_leaves_out_what_is_served_anyway() -> None:
    assert releases.get("1.37").runtime_config("PodGroup", "CompositePodGroup", "DeviceTaintRule", "Pod") == (
        "scheduling.k8s.io/v1alpha3",
        "scheduling.k8s.io/v1beta1",
    )


def test_no_stable_version_is_off_by_default(release: releases.Release) -> None:
    assert all("alpha" in version or "beta" in version for version in release.runtime_config())


def test_features_of_one_release() -> None:
    assert releases.get("1.36").has("ResourceSlice.spec.devices.nodeAllocatableResourceMappings")
    assert not releases.get("1.37").has("ResourceSlice.spec.devices.nodeAllocatableResourceMappings")


def test_gate_whose_work_another_one_does() -> None:
    release = releases.get("1.34")
    assert release.knows("DRADeviceTaintRules")
    assert release.gate("DRADeviceTaintRules") is None
    assert not release.knows("GenericWorkload")
    assert all(there in release.gates for there in release.covered.values())


def test_gates_are_features_too() -> None:
    found = {minor: releases.get(minor).has("DRAExtendedResource.default") for minor in releases.supported()}
    assert found == {"1.37": True, "1.36": True, "1.35": False, "1.34": False}
    assert not releases.get("1.34").has("DynamicResourceAllocation.locked")
    assert releases.get("1.35").has("DynamicResourceAllocation.locked")


def test_misspelt_feature_is_no_quiet_no() -> None:
    with pytest.raises(KeyError):
        releases.get().has("Pod.spec.schedulingGruop")


def test_every_release_names_the_same_components(release: releases.Release) -> None:
    assert release.components.keys() == releases.get().components.keys()


def test_gate_of_an_older_release_is_found() -> None:
    assert releases.minors_with_gate("GangScheduling") == ("1.36", "1.35")
    assert releases.minors_with_gate("NoSuchGate") == ()


def test_nearest_gates_forgive_case_and_slips() -> None:
    assert releases.nearest_gates("draDeviceTaint")[0] == "DRADeviceTaints"
