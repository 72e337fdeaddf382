"""The real kubectl of the cluster's release, as an administrator calls it."""

import subprocess
from tempfile import TemporaryDirectory

from harness import programs
from harness.clusters.protocol import NotObservable
from harness.errors import InfrastructureError
from harness.plugin.scenario import Scenario


def kubectl(scenario: Scenario, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run it to its end; whether it succeeds is for the scenario to say. Raises NotObservable without one."""
    try:
        program = programs.get("kubectl", scenario.release).path
    except InfrastructureError as error:
        raise NotObservable(f"there is no kubectl: {error}") from error
    scenario.note(f"kubectl {' '.join(arguments)}")
    with TemporaryDirectory() as cache:
        own = (f"--kubeconfig={scenario.cluster.kubeconfig}", f"--cache-dir={cache}")
        return subprocess.run([program, *own, *arguments], capture_output=True, text=True, check=False)
