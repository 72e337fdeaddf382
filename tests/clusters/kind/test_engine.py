from pathlib import Path

import pytest

from harness.clusters.kind import engine
from harness.clusters.kind.engine import Private
from harness.errors import UsageError


def test_without_an_engine_one_line_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")

    with pytest.raises(UsageError, match="make engine") as raised:
        engine.require()

    assert "\n" not in str(raised.value)


def test_only_root_may_start_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.clusters.kind.engine.os.geteuid", lambda: 1000)

    with pytest.raises(UsageError, match="only root"):
        Private(tmp_path / "engine").start()

    assert not (tmp_path / "engine").exists()


def test_where_docker_is_not_installed_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.clusters.kind.engine.os.geteuid", lambda: 0)
    monkeypatch.setattr("harness.clusters.kind.engine.shutil.which", lambda *_, **__: None)
    monkeypatch.setattr("harness.clusters.kind.engine.capabilities.missing", lambda: ())

    with pytest.raises(UsageError, match="no dockerd"):
        Private(tmp_path / "engine").start()


def test_stopping_what_does_not_run_is_no_error(tmp_path: Path) -> None:
    assert Private(tmp_path).stop() is False


def test_a_process_of_another_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "docker.pid").write_text("1")

    assert Private(tmp_path).stop() is False
