from pathlib import Path

import pytest

from harness.clusters.kind import objects
from harness.clusters.kind.command import Kind
from harness.clusters.kind.engine import Engine
from harness.errors import InfrastructureError


@pytest.fixture
def removed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No Docker here: only what kind says, and what follows from it."""
    names: list[str] = []
    monkeypatch.setattr(objects, "remove_cluster", lambda _, name: names.append(name))
    monkeypatch.setattr("harness.clusters.kind.command.wait_exponential", lambda **_: lambda _: 0.0)
    return names


def _kind(folder: Path, script: str) -> Kind:
    program = folder / "kind"
    program.write_text(f'#!/bin/sh\n[ "$1" = export ] && exit 0\necho x >>{folder}/tries\n{script}\n')
    program.chmod(0o755)
    return Kind(program, Engine("unix:///nowhere"), "abc123")


def _create(kind: Kind, folder: Path) -> None:
    kind.create("dra-e2e-abc123-s1", "node:1", folder / "c.yaml", folder / "kubeconfig", folder / "logs")


def _tries(folder: Path) -> int:
    return len((folder / "tries").read_text().splitlines())


def test_a_taken_port_is_tried_again_visibly(
    tmp_path: Path, removed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    failing = f"[ $(wc -l <{tmp_path}/tries) -gt 1 ] || {{ echo 'ERROR: port is already allocated' >&2; exit 1; }}"

    _create(_kind(tmp_path, failing), tmp_path)

    assert _tries(tmp_path) == 2
    assert removed == ["dra-e2e-abc123-s1"]
    assert "once more (1 of 3)" in capsys.readouterr().err


def test_it_is_not_tried_for_ever(tmp_path: Path, removed: list[str]) -> None:
    with pytest.raises(InfrastructureError, match="already allocated"):
        _create(_kind(tmp_path, "echo 'ERROR: port is already allocated' >&2; exit 1"), tmp_path)

    assert _tries(tmp_path) == 3
    assert len(removed) == 3


def test_any_other_failure_is_told_at_once_with_kind_s_words(tmp_path: Path, removed: list[str]) -> None:
    with pytest.raises(InfrastructureError) as raised:
        _create(_kind(tmp_path, "echo 'ERROR: failed to init node with kubeadm' >&2; exit 1"), tmp_path)

    assert _tries(tmp_path) == 1
    assert "failed to init node with kubeadm" in str(raised.value)
    assert str(tmp_path / "logs") in str(raised.value)
    assert removed


def test_component_that_refuses_its_flags_ends_the_wait(
    tmp_path: Path, removed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = "I1 starting\nError: unknown flag: --nope"
    monkeypatch.setattr("harness.clusters.kind.command._GLANCE", 0.1)
    monkeypatch.setattr(
        "harness.clusters.kind.command.nodes.shell", lambda *_: f"@@ kube-scheduler\n{refused}\n@@ kubelet\nI1 fine\n"
    )

    with pytest.raises(InfrastructureError, match=r"kube-scheduler does not start: Error: unknown flag: --nope"):
        _create(_kind(tmp_path, "exec sleep 60"), tmp_path)

    assert _tries(tmp_path) == 1
    assert removed
