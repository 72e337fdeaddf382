"""`up` leaves a cluster with a driver behind that only `down` removes."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from harness import releases
from harness.cli import main
from harness.clusters import reaper
from harness.clusters.run import LABEL
from harness.kube import Client, Waiter
from harness.kube.builders import claim_template, pod, request
from harness.kube.predicates import running


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Runs of these tests lie apart from the user's, in a directory with a short name."""
    tmp_path_factory.getbasetemp()  # pytest's own must not go there, it is made once
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp", ignore_cleanup_errors=True) as directory:
        monkeypatch.setenv("TMPDIR", directory)
        monkeypatch.setattr(tempfile, "tempdir", directory)
        yield Path(directory)
        reaper.reap(kept=True)


def command(*arguments: str) -> "subprocess.CompletedProcess[str]":
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-m", "harness", *arguments], cwd=root, capture_output=True, text=True, check=False
    )


def labelled(run_id: str) -> list[str]:
    """Names of the processes of a run."""
    names = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(LABEL) == run_id:
                names.append(process.name())
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return names


def test_up_and_down(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    up = command("up", "--nodes", "1")
    assert up.returncode == 0, up.stderr
    found = re.search(r"export KUBECONFIG=(\S+)", up.stdout)
    removal = re.search(r"harness down ([0-9a-f]{6})", up.stdout)
    assert found
    assert removal
    client = Client(Path(found[1]), releases.get(None))
    client.create(claim_template("one", request("gpu.example.com")))
    example = client.create(pod("mine", templates={"gpu": "one"}, image="dra-e2e.local/shell:1"))
    Waiter(client).wait(example, running())

    assert main(["reap"]) == 0
    assert labelled(removal[1])

    assert main(["down", removal[1]]) == 0
    assert capsys.readouterr().out.splitlines() == ["nothing to remove", f"removed: {removal[1]}"]
    assert not labelled(removal[1])
    assert not [path for path in place.glob("dra-e2e-*/*") if path.is_dir()]
    assert main(["down"]) == 0
    assert capsys.readouterr().out == "nothing to remove\n"


def test_a_cluster_that_does_not_start_leaves_nothing(place: Path) -> None:
    up = command("up", "--nodes", "1", "--component-arg", "kube-scheduler=--no-such-flag")
    assert up.returncode == 3
    assert "dra-e2e: kube-scheduler ended by itself: Error: unknown flag: --no-such-flag" in up.stderr
    assert "Traceback" not in up.stderr
    assert not [path for path in place.glob("dra-e2e-*/*") if path.is_dir()]
