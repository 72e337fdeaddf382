"""The real kubectl of the cluster's release, as an administrator calls it."""

import subprocess
from tempfile import TemporaryDirectory

from harness import programs
from harness.plugin.scenario import Scenario


def kubectl(scenario: Scenario, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run it to its end; whether it succeeds is for the scenario to say."""
    program = programs.get("kubectl", scenario.release).path
    scenario.note(f"kubectl {' '.join(arguments)}")
    with TemporaryDirectory() as cache:
        own = (f"--kubeconfig={scenario.cluster.kubeconfig}", f"--cache-dir={cache}")
        return subprocess.run([program, *own, *arguments], capture_output=True, text=True, check=False)
