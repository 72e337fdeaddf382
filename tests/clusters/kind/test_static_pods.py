from copy import deepcopy
from typing import Any

from harness.clusters.kind.static_pods import another, changed


def _manifest(*command: str) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "kube-scheduler", "command": list(command)}]}}


def test_gates_of_a_restart_join_those_of_the_start() -> None:
    manifest = changed(_manifest("kube-scheduler", "--feature-gates=A=true,B=true"), {"B": False, "C": True}, ["--v=4"])

    command = manifest["spec"]["containers"][0]["command"]
    assert command == ["kube-scheduler", "--feature-gates=A=true,B=false,C=true", "--v=4"]


def test_without_gates_there_is_no_flag() -> None:
    manifest = changed(_manifest("etcd", "--name=x"), {}, [])

    assert manifest["spec"]["containers"][0]["command"] == ["etcd", "--name=x"]


def test_no_start_is_of_the_same_pod() -> None:
    made = {"metadata": {"name": "kube-scheduler"}, **_manifest("kube-scheduler")}
    starts = [another(deepcopy(made))["metadata"]["annotations"] for _ in range(2)]

    assert starts[0] != starts[1]
