import os
from pathlib import Path

import pytest

from harness.programs.program import Artifact, Platform
from harness.programs.store import Store

ARTIFACT = Artifact("kubelet", "v1.37.2", Platform("linux", "amd64"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path)
    with store.lock([ARTIFACT]), store.workspace(ARTIFACT) as folder:
        (folder / "kubelet").write_bytes(b"program")
        store.install(ARTIFACT, folder / "kubelet", "built")
    return store


def test_installed_program_is_found(store: Store) -> None:
    program = store.find(ARTIFACT)
    assert program is not None
    assert (program.path.read_bytes(), program.origin) == (b"program", "built")


def test_truncated_program_is_absent(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "kubelet/v1.37.2/linux-amd64/kubelet"
    os.truncate(path, 3)
    assert store.find(ARTIFACT) is None


def test_changed_program_of_the_same_size_is_absent(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "kubelet/v1.37.2/linux-amd64/kubelet"
    path.write_bytes(b"Program")
    os.utime(path, ns=(0, 0))
    assert store.find(ARTIFACT) is None


def test_touched_program_is_found(store: Store, tmp_path: Path) -> None:
    os.utime(tmp_path / "kubelet/v1.37.2/linux-amd64/kubelet", ns=(0, 0))
    assert store.find(ARTIFACT) is not None


@pytest.mark.parametrize("record", ["", "{}", "[]", '"text"'])
def test_program_without_a_whole_record_is_absent(store: Store, tmp_path: Path, record: str) -> None:
    (tmp_path / "kubelet/v1.37.2/linux-amd64/kubelet.json").write_text(record)
    assert store.find(ARTIFACT) is None


def test_workspace_is_empty_and_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    partial = tmp_path / "kubelet/v1.37.2/linux-amd64/partial"
    partial.mkdir(parents=True)
    (partial / "of a killed process").touch()
    with store.workspace(ARTIFACT) as folder:
        assert not list(folder.iterdir())
        (folder / "half").touch()
    assert not partial.exists()


def test_interrupted_work_leaves_nothing(tmp_path: Path) -> None:
    def interrupted(store: Store) -> None:
        with store.workspace(ARTIFACT) as folder:
            (folder / "half").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted(Store(tmp_path))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
