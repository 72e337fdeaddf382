from pathlib import Path

import pytest

from harness.clusters.local import host


def test_a_low_limit_is_raised_and_told(tmp_path: Path) -> None:
    limit = tmp_path / "max_user_instances"
    limit.write_text("128\n")
    assert "raised from 128 to" in host.prepare(limit)[0]
    assert int(limit.read_text()) == host.ENOUGH
    assert host.prepare(limit) == []


def test_a_high_limit_is_left_alone(tmp_path: Path) -> None:
    limit = tmp_path / "max_user_instances"
    limit.write_text("8192\n")
    assert host.prepare(limit) == []
    assert limit.read_text() == "8192\n"


def test_who_may_not_raise_it_is_told_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "max_user_instances"
    limit.write_text("128\n")

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError

    monkeypatch.setattr(Path, "write_text", refuse)
    assert "sudo sysctl fs.inotify.max_user_instances=" in host.prepare(limit)[0]


def test_a_host_without_the_limit_needs_nothing(tmp_path: Path) -> None:
    assert host.prepare(tmp_path / "missing") == []
