import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from harness.clusters import reaper
from harness.clusters.run import LABEL, Run, base_directory
from harness.errors import UsageError
from harness.kube.polling import poll

Sleeper = Callable[[str], psutil.Process]


@pytest.fixture
def sleeper() -> Iterator[Sleeper]:
    """Starts processes labelled with a run's id."""
    started: list[subprocess.Popen[bytes]] = []

    def start(run_id: str) -> psutil.Process:
        started.append(subprocess.Popen(["sleep", "600"], env={**os.environ, LABEL: run_id}))
        process = psutil.Process(started[-1].pid)
        # In the middle of an exec the kernel shows no environment for an instant.
        poll(process.environ, bool, "the process has its environment", timeout=5, interval=0.001)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def runs(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def test_a_dead_run_is_removed_with_its_processes(sleeper: Sleeper) -> None:
    run = Run.create()
    process = sleeper(run.id)
    run.release()
    assert reaper.reap() == [run.id]
    assert not run.directory.exists()
    assert not runs(process)


def test_a_second_signal_does_not_cut_a_removal_short(sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Run) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(reaper, "PROVIDER_REAPERS", (interrupted, *reaper.PROVIDER_REAPERS))
    run = Run.create()
    process = sleeper(run.id)
    reaper.remove(run)
    assert not run.directory.exists()
    assert not runs(process)


def test_a_living_run_stays(sleeper: Sleeper) -> None:
    run = Run.create()
    process = sleeper(run.id)
    assert reaper.reap() == []
    assert run.directory.exists()
    assert runs(process)


def test_a_kept_run_goes_only_when_asked(sleeper: Sleeper) -> None:
    run = Run.create()
    process = sleeper(run.id)
    run.keep()
    run.release()
    assert reaper.reap() == []
    assert runs(process)
    assert reaper.reap(kept=True) == [run.id]
    assert not runs(process)


def test_what_is_not_ours_stays(sleeper: Sleeper) -> None:
    run = Run.create()
    stranger = sleeper("of-another-run")
    foreign = run.directory.parent / "not-a-run"
    foreign.mkdir()
    run.release()
    reaper.reap(kept=True)
    assert runs(stranger)
    assert foreign.exists()


def test_the_owner_removes_its_own_run(sleeper: Sleeper) -> None:
    run = Run.create()
    process = sleeper(run.id)
    reaper.remove(run)
    assert not run.directory.exists()
    assert not runs(process)
    assert reaper.reap() == []


def test_kept_runs_are_removed_one_by_one_or_all() -> None:
    kept = [Run.create() for _ in range(3)]
    for run in kept:
        run.keep()
        run.release()
    other = Run.create()
    other.release()
    assert reaper.remove_kept(kept[1].id) == [kept[1].id]
    assert reaper.remove_kept() == sorted((kept[0].id, kept[2].id))
    assert other.directory.exists()


def test_a_kept_run_at_work_is_not_removed() -> None:
    run = Run.create()
    run.keep()
    assert reaper.remove_kept() == []
    with pytest.raises(UsageError, match=f"{run.id} is still in use"):
        reaper.remove_kept(run.id)
    with pytest.raises(UsageError, match="abcdef is no kept run of yours"):
        reaper.remove_kept("abcdef")
    assert run.directory.exists()


def test_what_only_has_the_name_of_a_run_is_left_alone(own_temporary_directory: Path) -> None:
    base = base_directory()
    (base / "aaaaaa").write_text("a file")
    (base / "bbbbbb").symlink_to(own_temporary_directory)
    assert reaper.reap(kept=True) == []
    assert {path.name for path in base.iterdir()} >= {"aaaaaa", "bbbbbb"}
