import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.clusters.kind import capabilities, trimming_runtime

_ALL = list(trimming_runtime.NAMES)


def _process() -> dict[str, Any]:
    return {"args": ["true"], "capabilities": {"bounding": _ALL, "effective": _ALL, "ambient": None}}


def test_only_what_is_held_is_asked_for() -> None:
    process = _process()

    trimming_runtime.trim(process, ~(1 << 24))

    assert set(_ALL) - set(process["capabilities"]["bounding"]) == {"CAP_SYS_RESOURCE"}
    assert process["capabilities"]["ambient"] == []


def test_a_host_tells_what_it_withholds(tmp_path: Path) -> None:
    status, last = tmp_path / "status", tmp_path / "cap_last_cap"
    status.write_text("Name:\tx\nCapBnd:\t000001fffeffffff\n")
    last.write_text("40\n")

    assert capabilities.missing(status, last) == ("CAP_SYS_RESOURCE",)


def test_a_host_that_withholds_nothing_needs_nothing(tmp_path: Path) -> None:
    status, last = tmp_path / "status", tmp_path / "cap_last_cap"
    status.write_text("CapBnd:\t000001ffffffffff\n")
    last.write_text("40\n")

    assert capabilities.missing(status, last) == ()


@pytest.mark.parametrize("arguments", [["create", "--bundle", "BUNDLE", "id"], ["exec", "--process=PROCESS", "id"]])
def test_it_becomes_runc_with_the_trimmed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    runc = tmp_path / "runc"
    runc.write_text(f'#!{sys.executable}\nimport sys\nprint("runc", *sys.argv[1:])\n')
    runc.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    bundle, process = tmp_path / "config.json", tmp_path / "process.json"
    bundle.write_text(json.dumps({"process": {"capabilities": {"bounding": ["CAP_NO_SUCH", "CAP_CHOWN"]}}}))
    process.write_text(json.dumps({"capabilities": {"bounding": ["CAP_NO_SUCH", "CAP_CHOWN"]}}))
    given = [each.replace("BUNDLE", str(tmp_path)).replace("PROCESS", str(process)) for each in arguments]

    done = subprocess.run([capabilities.install(tmp_path), *given], check=True, capture_output=True, text=True)

    assert done.stdout.split() == ["runc", *given]
    read = json.loads(bundle.read_text())["process"] if given[0] == "create" else json.loads(process.read_text())
    assert "CAP_NO_SUCH" not in read["capabilities"]["bounding"]
