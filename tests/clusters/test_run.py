import stat
import subprocess
import sys
from pathlib import Path

import pytest

from harness.clusters.run import Run, base_directory
from harness.errors import InfrastructureError, UsageError
from harness.kube.polling import poll


def test_a_run_has_a_short_private_directory() -> None:
    run = Run.create()
    assert len(run.id) == 6
    assert stat.S_IMODE(run.directory.stat().st_mode) == 0o700
    assert len(str(run.directory / "c1/n1/plugins_registry")) < 107 - 50


def test_a_run_lives_until_it_is_released() -> None:
    run = Run.create()
    assert Run.attach(run.directory).is_alive()
    run.release()
    assert not Run.attach(run.directory).is_alive()


def test_a_child_does_not_keep_a_run_alive() -> None:
    run = Run.create()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    run.release()
    # Between fork and exec a child of another thread may hold the lock for an instant; ours must not keep it.
    poll(run.is_alive, lambda alive: not alive, "the run is dead while its child lives", timeout=2)
    child.communicate(b"\n")


def test_a_run_dies_with_its_owner() -> None:
    code = "from harness.clusters.run import Run; print(Run.create().directory, flush=True); input()"
    environment = {"TMPDIR": str(base_directory().parent), "PYTHONPATH": str(Path(__file__).parents[2])}
    owner = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert owner.stdout is not None
    run = Run.attach(Path(owner.stdout.readline().strip()))
    assert run.is_alive()
    owner.kill()
    owner.communicate()
    assert not run.is_alive()


def test_a_run_that_is_gone_cannot_be_attached(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="is gone"):
        Run.attach(tmp_path)


def test_a_directory_that_others_may_read_is_refused() -> None:
    base_directory().chmod(0o755)
    with pytest.raises(UsageError, match="mode 0700"):
        base_directory()
