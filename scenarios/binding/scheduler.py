"""A kube-scheduler beside the one of the cluster, for the Pods that name it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from harness import programs
from harness.clusters.run import base_directory
from harness.clusters.started import process
from harness.plugin.scenario import Scenario
from scenarios.binding.configuration import API_VERSION, profile

_GATE = "DRADeviceBindingConditions"


@contextmanager
def second_scheduler(scenario: Scenario, directory: Path, limit: str) -> Iterator[str]:
    """Run another process of the cluster's release with this binding timeout; yields the schedulerName it serves.

    It serves nothing else, not even its health: the first Pod that it places shows that it runs.
    """
    name = f"second-{scenario.namespace}"
    configuration = {
        "apiVersion": API_VERSION,
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(scenario.cluster.kubeconfig)},
        "leaderElection": {"leaderElect": False},
        "profiles": [profile(name, limit)],
    }
    file = directory / "second-scheduler.yaml"
    file.write_text(yaml.safe_dump(configuration), encoding="utf-8")
    program = programs.get("kube-scheduler", scenario.release)
    command = [str(program.path), f"--config={file}", "--secure-port=0", f"--feature-gates={_GATE}=true"]
    # The administrator's kubeconfig lies in the directory of the run.
    run_id = scenario.cluster.kubeconfig.relative_to(base_directory()).parts[0]
    running = process.start("second-scheduler", command, directory, run_id)
    try:
        yield name
        running.check()
    finally:
        running.stop()
