from typing import Any

from harness.clusters.kind.static_pods import changed


def _manifest(*command: str) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "kube-scheduler", "command": list(command)}]}}


def test_gates_of_a_restart_join_those_of_the_start() -> None:
    manifest = changed(_manifest("kube-scheduler", "--feature-gates=A=true,B=true"), {"B": False, "C": True}, ["--v=4"])

    command = manifest["spec"]["containers"][0]["command"]
    assert command == ["kube-scheduler", "--feature-gates=A=true,B=false,C=true", "--v=4"]


def test_without_gates_there_is_no_flag() -> None:
    manifest = changed(_manifest("etcd", "--name=x"), {}, [])

    assert manifest["spec"]["containers"][0]["command"] == ["etcd", "--name=x"]
