"""What `timeline` says where it cannot draw."""

from pathlib import Path

import pytest
import yaml

from harness.cli import main
from harness.errors import UsageError


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig"
    context = {"name": "here", "context": {"cluster": "c", "user": "u"}}
    cluster = {"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}
    user = {"name": "u", "user": {}}
    data = {"contexts": [context], "current-context": "here", "clusters": [cluster], "users": [user]}
    path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **data}))
    return path


def test_missing_kubeconfig(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", "ns", "--kubeconfig", str(tmp_path / "none")]) == UsageError.exit_code
    assert "name one with --kubeconfig" in capsys.readouterr().err


def test_unknown_context(kubeconfig: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", "ns", "--kubeconfig", str(kubeconfig), "--context", "there"]) == UsageError.exit_code
    assert "choose one of here" in capsys.readouterr().err


def test_cluster_that_does_not_answer(kubeconfig: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", "ns", "--kubeconfig", str(kubeconfig)]) == 3
    assert capsys.readouterr().err.count("\n") == 1
