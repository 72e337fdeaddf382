"""The program of the driver's Pods, as a process."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import urllib3

ROOT = Path(__file__).resolve().parents[2]

KUBECONFIG = """
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
"""


def start(tmp_path: Path, *arguments: str) -> "subprocess.Popen[str]":
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    (tmp_path / "token").write_text("secret\n")
    command = [sys.executable, "-m", "fake_driver.pod", f"--state={tmp_path / 'state'}", "--listen=127.0.0.1:0"]
    command += [f"--kubeconfig={tmp_path / 'kubeconfig'}", f"--token={tmp_path / 'token'}", *arguments]
    return subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_answers_those_with_the_token_until_it_is_ended(tmp_path: Path) -> None:
    with start(tmp_path) as pod:
        assert pod.stdout
        address = pod.stdout.readline().split()[-1]
        assert urllib3.request("GET", f"http://{address}/healthz").json() == "ok"
        path = f"http://{address}/drivers/gpu.example.com/written"
        assert urllib3.request("GET", path).status == 401
        assert urllib3.request("GET", path, headers={"X-Fake-Driver-Token": "secre"}).status == 401
        answer = urllib3.request("GET", path, headers={"X-Fake-Driver-Token": "secret"}).json()
        assert "not served here" in answer["error"]["message"]
        pod.send_signal(signal.SIGTERM)
        assert pod.wait(20) == 0


@pytest.mark.parametrize(
    ("pool", "said"),
    [({"name": "p", "allNodes": True}, "is put on each node"), ({"profile": "x"}, "unknown profile 'x'")],
)
def test_a_file_that_cannot_be_served_is_told_in_one_line(tmp_path: Path, pool: dict[str, object], said: str) -> None:
    drivers = tmp_path / "drivers.yaml"
    drivers.write_text(json.dumps({"drivers": [{"name": "gpu.example.com", "pools": [pool]}]}))
    with start(tmp_path, "--node=n1", f"--drivers={drivers}", f"--kubelet-root={tmp_path}") as pod:
        _, errors = pod.communicate(timeout=20)
        assert pod.returncode == 4
        assert said in errors
        assert "Traceback" not in errors
