import pytest

from harness import releases
from harness.errors import UsageError


def test_emulated_release_has_the_newer_programs_and_the_older_name() -> None:
    release = releases.get("1.36 emulated by 1.37")
    assert (release.minor, release.version) == ("1.36", releases.get("1.37").version)
    assert release.name == "1.36 emulated by 1.37"
    assert release.component_version("etcd-image") == releases.get("1.37").component_version("etcd-image")


def test_kubelet_emulates_nothing() -> None:
    release = releases.get("1.36 emulated by 1.37")
    assert release.of("kube-scheduler") is release
    assert release.of("kubelet") == releases.get("1.37")
    assert release.flags("kube-scheduler") == ("--emulated-version=1.36",)
    assert release.flags("kubelet") == release.flags("etcd") == ()
    assert releases.get("1.37").flags("kube-apiserver") == ()


def test_gates_are_those_of_both() -> None:
    release = releases.get("1.36 emulated by 1.37")
    newer = release.gate("CompositePodGroup")
    gone = release.gate("SchedulerQueueingHints")
    assert (newer, gone) == (None, None)
    rules = release.gate("DRADeviceTaintRules")
    assert rules is not None
    assert (rules.stage, rules.default) == ("beta", False)


def test_what_no_gate_holds_comes_with_the_newer_programs() -> None:
    ungated = "DeviceTaint.evicts-users-of-extended-resources"
    assert not releases.get("1.36").has(ungated)
    assert releases.get("1.36 emulated by 1.37").has(ungated)
    assert not releases.get("1.36 emulated by 1.37").has("DeviceTaintRule.v1")


def test_what_builds_on_a_kind_that_is_gone_is_gone() -> None:
    release = releases.get("1.36 emulated by 1.37")
    assert release.api_version("PodGroup") is None
    assert release.api_version("DeviceTaintRule") == "resource.k8s.io/v1beta2"
    for name in ("GenericWorkload", "DRAWorkloadResourceClaims", "TopologyAwareWorkloadScheduling"):
        assert release.gate(name) is None, name


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("1.37 emulated by 1.37", "1.37 cannot emulate 1.37: choose one of 1.36, 1.35, 1.34"),
        ("1.35 emulated by 1.34", "1.34 cannot emulate 1.35: it emulates none of the supported ones"),
        ("1.33 emulated by 1.37", "'1.33' is not supported"),
    ],
)
def test_what_cannot_be_emulated(name: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        releases.get(name)
