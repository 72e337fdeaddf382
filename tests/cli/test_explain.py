from pathlib import Path

import pytest

from harness.cli import main

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: a
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
contexts: [{name: a, context: {cluster: c, user: u, namespace: mine}}]
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    file = tmp_path / "config"
    file.write_text(KUBECONFIG, encoding="utf-8")
    return file


def test_a_kubeconfig_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "pod", "p", "--kubeconfig", str(tmp_path / "none")]) == 4
    assert "name one with --kubeconfig" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "root:x:0:0:root:/root:/bin/bash\n", "kind: Pod\n", "- a\n", "\0", "a: [\n"])
def test_a_file_that_is_no_kubeconfig(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "config"
    file.write_text(content, encoding="utf-8")
    assert main(["explain", "pod", "p", "--kubeconfig", str(file)]) == 4
    assert "name one with --kubeconfig" in capsys.readouterr().err


def test_a_context_that_is_not_there(kubeconfig: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "pod", "p", "--kubeconfig", str(kubeconfig), "--context", "b"]) == 4
    assert "has no context b: choose one of a" in capsys.readouterr().err


def test_a_name_of_the_wrong_form(kubeconfig: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "device", "gpu-0", "--kubeconfig", str(kubeconfig)]) == 4
    assert "it has the form DRIVER/POOL/DEVICE" in capsys.readouterr().err
