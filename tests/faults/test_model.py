"""What a fault came to, in a word and on the page."""

import json
from pathlib import Path

import pytest

from harness import faults
from harness.errors import InfrastructureError, UsageError
from harness.faults.files import render
from harness.faults.model import Chaos, Outcome, Verdict
from harness.faults.workloads import REPLICAS, deployments

TWICE = faults.Violation("given once", "device d/p/<gpu> is allocated 2 times", ("ResourceClaim default/one",))

HEALED = Outcome("etcd-killed", "etcd is killed", 90, lasted=10.2, healed=7.25, steps=30, refused=12)
BROKEN = Outcome("node-gone", "A node is gone", 180, lasted=70, healed=20, violations=[TWICE])
PASSING = Outcome("driver-crash", "The driver crashes", 60, lasted=10, healed=1.5, during=[TWICE])
LATE = Outcome("kubelet-killed", "The kubelet is killed", 60, lasted=10, missing=["node worker-1 takes no Pods"])
LEFT_OUT = Outcome("full-disk-etcd", "The disk is full", 120, left_out="there is no such disk")


def chaos(*outcomes: Outcome) -> Chaos:
    return Chaos("2030-01-01T00:00:00+00:00", "v1.37.2", "local", "features", 7, outcomes)


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [(HEALED, "healed"), (BROKEN, "broken"), (PASSING, "broken"), (LATE, "late"), (LEFT_OUT, "left out")],
)
def test_verdict(outcome: Outcome, verdict: Verdict) -> None:
    assert outcome.verdict == verdict


@pytest.mark.parametrize(
    ("outcomes", "sound"),
    [
        ([HEALED, LEFT_OUT], True),
        ([HEALED, BROKEN], False),
        ([HEALED, PASSING], False),
        ([HEALED, LATE], False),
        ([LEFT_OUT], False),  # nothing was tried
        ([], False),
    ],
)
def test_sound(outcomes: list[Outcome], sound: bool) -> None:
    assert chaos(*outcomes).sound is sound


def test_headline_and_page_tell_all(tmp_path: Path) -> None:
    told = chaos(HEALED, BROKEN, PASSING, LATE, LEFT_OUT)
    assert told.headline == "1 of 5 faults healed, 2 broken invariants, 1 not well in time, 1 left out"

    page = faults.write(told, tmp_path / "new")

    text = page.read_text()
    for words in (
        "7.2 s",
        "device d/p/&lt;gpu&gt; is allocated 2 times",
        "node worker-1 takes no Pods",
        "no such disk",
    ):
        assert words in text
    data = json.loads((tmp_path / "new" / "chaos.json").read_text())
    assert [each["verdict"] for each in data["outcomes"]] == ["healed", "broken", "broken", "late", "left out"]
    assert data["outcomes"][1]["violations"][0]["sentence"] == TWICE.sentence


def test_page_without_a_fault() -> None:
    assert "0 of 0 faults healed" in render(chaos())


def test_no_place_for_the_report(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InfrastructureError, match="the report was not written"):
        faults.write(chaos(HEALED), tmp_path / "file")


def test_faults_by_name() -> None:
    assert faults.named([], faults.FAULTS) == list(faults.FAULTS.values())
    assert [each.name for each in faults.named(["etcd-killed", "node-gone"], faults.FAULTS)] == [
        name for name in faults.FAULTS if name in ("etcd-killed", "node-gone")
    ]
    with pytest.raises(UsageError, match="unknown fault 'nope': choose of"):
        faults.named(["etcd-killed", "nope"], faults.FAULTS)


def test_every_deployment_has_the_replicas_that_are_waited_for() -> None:
    made = {each["metadata"]["name"]: each["spec"]["replicas"] for each in deployments("image")}
    assert made == dict(REPLICAS)
