import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from harness.clusters.run import LABEL
from harness.clusters.started import process
from harness.clusters.started.process import Process
from harness.errors import InfrastructureError


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for record in tmp_path.glob("processes/*.json"):
        found = process.find(tmp_path, record.stem)
        if found:
            found.stop(grace=0)


def shell(directory: Path, script: str) -> Process:
    return process.start("shell", ["sh", "-c", script], directory, "abc123")


def environment(started: Process) -> dict[str, str]:
    """Its environment; in the middle of an exec the kernel shows none for an instant."""
    deadline = time.monotonic() + 5
    while not (found := psutil.Process(started.pid).environ()):
        assert time.monotonic() < deadline
    return found


def ended(started: Process) -> None:
    deadline = time.monotonic() + 5
    while started.alive():
        assert time.monotonic() < deadline


def test_a_program_is_labelled_in_its_own_session_and_found_by_others(directory: Path) -> None:
    started = shell(directory, "exec sleep 600")
    assert environment(started)[LABEL] == "abc123"
    assert os.getsid(started.pid) == started.pid
    assert process.find(directory, "shell") == started
    assert started.alive()


def test_the_environment_of_the_harness_stays_its_own(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.com")
    assert "HTTPS_PROXY" not in environment(shell(directory, "exec sleep 600"))


def test_a_program_runs_until_its_last_thread_ends(directory: Path) -> None:
    script = "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(600,)).start(); "
    started = process.start(
        "threads", [sys.executable, "-c", script + "ctypes.CDLL(None).pthread_exit(None)"], directory, "abc123"
    )
    deadline = time.monotonic() + 5
    while psutil.Process(started.pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
    assert started.alive()
    started.stop(grace=0)
    assert not started.alive()


def test_a_program_that_ends_by_itself_is_quoted(directory: Path) -> None:
    started = shell(directory, "echo I1129 fine; echo 'E1129 12:00 no such flag' >&2; echo usage; exit 1")
    ended(started)
    with pytest.raises(InfrastructureError, match="shell ended by itself: E1129 12:00 no such flag"):
        started.check()


def test_only_the_last_start_is_quoted(directory: Path) -> None:
    ended(shell(directory, "echo Error: old"))
    second = shell(directory, "echo new")
    ended(second)
    assert second.last_words() == "new"
    assert "old" in second.log.read_text()


def test_stop_insists_when_a_program_does_not_listen(directory: Path) -> None:
    started = shell(directory, "trap '' TERM; echo up; while :; do sleep 0.1; done")
    while "up" not in started.log.read_text():
        started.check()
    started.stop(grace=0.2)
    assert not started.alive()
    assert process.find(directory, "shell") is None


def test_stop_returns_at_once_when_another_process_has_not_reaped_it_yet(directory: Path) -> None:
    starter = (
        "import sys; from pathlib import Path; from harness.clusters.started import process;"
        "process.start('shell', ['sleep', '100'], Path(sys.argv[1]), 'abc123'); print('started', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", starter, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == "started\n"
        found = process.find(directory, "shell")
        assert found
        start = time.monotonic()
        found.stop(grace=10)
        assert time.monotonic() - start < 5
        assert psutil.Process(found.pid).status() == psutil.STATUS_ZOMBIE
        parent.communicate("\n")


def test_a_process_id_that_went_to_another_program_is_not_ours(directory: Path) -> None:
    other = Process("shell", os.getpid(), 1.0, directory / "log", directory / "record")
    assert not other.alive()
    other.stop()  # must not end this test


def test_a_program_that_cannot_be_executed(directory: Path) -> None:
    with pytest.raises(InfrastructureError, match="cannot start etcd: /nonexistent/etcd: No such file"):
        process.start("etcd", ["/nonexistent/etcd"], directory, "abc123")
