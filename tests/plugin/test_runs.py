"""How a run ends when something is wrong with it: its exit code, one line, and nothing left behind."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from harness.clusters import reaper

ROOT = Path(__file__).parents[2]
SCENARIO = "scenarios/workflow/test_order.py"
PATIENCE = 60.0  # seconds; what is waited for takes a few on an idle machine
PARALLEL = ("-n", "2")


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A temporary directory with a short name, in which the runs of a test lie apart from the user's."""
    tmp_path_factory.getbasetemp()  # pytest's own must not go there, it is made once
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp", ignore_cleanup_errors=True) as directory:
        monkeypatch.setenv("TMPDIR", directory)
        monkeypatch.setattr(tempfile, "tempdir", directory)
        yield Path(directory)
        reaper.reap(kept=True)


def started(place: Path, *arguments: str) -> subprocess.Popen[str]:
    # A shell that started the tests in the background may have told them to ignore SIGINT.
    command = ["env", "--default-signal=INT", sys.executable, "-m", "pytest", SCENARIO, "-q"]
    command += [f"--reports={place / 'reports'}", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def runs(place: Path) -> list[Path]:
    return [path for path in place.glob("dra-e2e-*/*") if path.is_dir()]


def processes(place: Path) -> list[psutil.Process]:
    """Whatever runs for a run of this test: the programs of its clusters, and pytest with its workers."""
    found = []
    for process in psutil.process_iter():
        try:
            environment = process.environ()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        if process.pid != os.getpid() and environment.get("TMPDIR") == str(place):
            found.append(process)
    return found


def until_starting(place: Path, run: subprocess.Popen[str]) -> None:
    """Return in the middle of the start of a cluster: its API server is there, the rest is not."""
    deadline = time.monotonic() + PATIENCE
    while not list(place.glob("dra-e2e-*/*/*/processes/kube-apiserver.json")):
        assert run.poll() is None, run.communicate()[0]
        assert time.monotonic() < deadline, "no cluster is starting"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("number", "distribution"),
    [(signal.SIGINT, ()), (signal.SIGINT, PARALLEL), (signal.SIGTERM, ())],
    ids=["SIGINT", "SIGINT-workers", "SIGTERM"],
)
def test_interrupted_while_a_cluster_starts(place: Path, number: signal.Signals, distribution: tuple[str, ...]) -> None:
    run = started(place, *distribution)
    until_starting(place, run)
    run.send_signal(number)
    output, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == pytest.ExitCode.INTERRUPTED, output
    assert "INTERNALERROR" not in output
    assert runs(place) == []
    assert processes(place) == []


def test_a_killed_run_is_removed_by_the_reaper(place: Path) -> None:
    run = started(place, *PARALLEL)
    until_starting(place, run)
    run.kill()
    run.communicate(timeout=PATIENCE)
    assert len(reaper.reap()) == 1
    assert runs(place) == []
    _, left = psutil.wait_procs(processes(place), timeout=10)  # workers notice that nobody listens
    assert left == []


def test_a_component_that_ends_at_once(place: Path) -> None:
    run = started(place, "--component-arg", "kube-scheduler=--no-such-flag")
    output, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 3, output
    assert "kube-scheduler ended by itself: Error: unknown flag: --no-such-flag" in output, output
    assert "Traceback" not in output
    assert "harness/clusters" not in output  # where in the harness it was raised is not for the user
    assert list(place.glob("reports/*/evidence/clusters/*/kube-scheduler.log"))
    assert runs(place) == []
    assert processes(place) == []


def test_a_wrong_marker_ends_a_distributed_run_as_it_ends_any(
    pytester: pytest.Pytester, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    text = "import pytest\n\n@pytest.mark.statement('WF-99')\ndef test_it(scenario): ...\n"
    pytester.makepyfile(test_it=text)
    pytester.makeconftest("pytest_plugins = ['harness.plugin']")
    done = pytester.runpytest_subprocess("-q", *PARALLEL)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stdout.fnmatch_lines(["ERROR: test_it.py::test_it: statement('WF-99'): the catalogue has no such statement"])
    done.stdout.no_fnmatch_line("*INTERNALERROR*")
    assert runs(place) == []
