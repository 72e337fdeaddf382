from collections.abc import Mapping

import pytest
import yaml

from harness import releases
from harness.errors import UsageError
from harness.releases import Told
from harness.releases.catalog import data_of

_WORDS = {"alpha": "ALPHA", "beta": "BETA", "ga": "", "deprecated": "DEPRECATED"}


def told(minor: str, version: str = "v1.38.0", on: frozenset[str] = frozenset()) -> Told:
    """What a cluster of a release would tell that is started with every API and with these gates on."""
    data = data_of(minor)
    gates = {name: (_WORDS[gate["stage"]], gate["default"] or name in on) for name, gate in data["gates"].items()}
    kinds: dict[str, list[str]] = {version: [] for version in data["off_by_default"]}
    for kind, api_version in data["api_versions"].items():
        kinds.setdefault(api_version, []).append(kind)
    return Told(version, gates, kinds)


def facts(gates: Mapping[str, Mapping[str, object]]) -> dict[str, tuple[object, object]]:
    return {name: (gate["stage"], gate["default"]) for name, gate in gates.items()}


def test_draft_of_a_known_release_is_what_is_known_of_it() -> None:
    drafted = releases.draft(told("1.37"), "1.36").data
    known = data_of("1.37")
    assert facts(drafted["gates"]) == facts(known["gates"])
    assert drafted["api_versions"] == known["api_versions"]
    assert set(known["off_by_default"]) <= set(drafted["off_by_default"])
    assert drafted["emulates"] == ["1.36", "1.35", "1.34"]


def test_what_is_new_moved_or_gone_is_to_be_checked() -> None:
    notes = "\n".join(releases.draft(told("1.37"), "1.36").to_check)
    assert "kind DeviceTaintRule moved: resource.k8s.io/v1beta2 → resource.k8s.io/v1" in notes
    assert "kind CompositePodGroup (scheduling.k8s.io/v1alpha3) is new" in notes
    assert "gate GenericWorkload: alpha, off → beta, off" in notes
    assert "gate GangScheduling is told by no component that was asked" in notes
    assert "API scheduling.k8s.io/v1alpha2 is not served" in notes


def test_alpha_gate_that_is_on_was_switched_on() -> None:
    drafted = releases.draft(told("1.37", on=frozenset({"CompositePodGroup"})), "1.37")
    assert drafted.data["gates"]["CompositePodGroup"]["default"] is False
    assert any("CompositePodGroup is alpha and on" in line for line in drafted.to_check)


def test_gates_need_only_what_is_there() -> None:
    seen = told("1.37")
    without = Told(
        seen.version, {name: gate for name, gate in seen.gates.items() if name != "GenericWorkload"}, seen.kinds
    )
    drafted = releases.draft(without, "1.37")
    assert drafted.data["gates"]["CompositePodGroup"]["needs"] == ["TopologyAwareWorkloadScheduling"]
    assert data_of("1.37")["gates"]["CompositePodGroup"]["needs"] == [
        "GenericWorkload",
        "TopologyAwareWorkloadScheduling",
    ]


def test_text_is_a_data_file() -> None:
    drafted = releases.draft(told("1.37"), "1.37")
    text = drafted.text()
    assert text.startswith("# Draft of Kubernetes v1.38.0")
    assert yaml.safe_load(text) == {
        **data_of("1.37"),
        "version": "v1.38.0",
        "renamed": {},
        "covered": {},
        "emulates": ["1.37", "1.36", "1.35", "1.34"],
    }


def test_release_to_start_from_is_a_known_one() -> None:
    with pytest.raises(UsageError, match=r"'1\.12' is not supported"):
        releases.draft(told("1.37"), "1.12")
