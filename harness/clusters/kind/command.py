"""The kind program: what it is asked to do, and what its failures mean."""

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from harness.clusters.kind import nodes, objects
from harness.clusters.kind.endings import refusal
from harness.clusters.kind.engine import Engine
from harness.clusters.run import LABEL
from harness.errors import InfrastructureError

#: Failures that come from what else happens on the host at that moment, and that a second try does not meet again:
#: a port taken between kind's choice and Docker's use of it; Docker's address pools changing; a node whose systemd
#: was slower than the thirty seconds that kind gives it.
_TRANSIENT = re.compile(
    r"port is already allocated|address already in use|failed to bind (host )?port"
    r"|(could not find an available|conflicts with network).*|Pool overlaps"
    r"|could not find a log line that matches \"Reached target"
)
_ATTEMPTS = 3

_GLANCE = 5.0  # seconds between two looks at what a cluster's components say while kubeadm waits for them

# What components have written that have ended, each under its name.
_ENDED = """
for name in etcd kube-apiserver kube-controller-manager kube-scheduler; do
  for ended in $(crictl ps --all --quiet --state exited --name "^$name\\$" 2>/dev/null); do
    echo "@@ $name"
    crictl logs --tail 5 "$ended" 2>&1 || true
  done
done
echo "@@ kubelet"
journalctl --unit=kubelet --no-pager --output=cat --lines=5
"""


class Transient(InfrastructureError):
    """A failure that is known to pass."""


@dataclass(frozen=True)
class Kind:
    """The kind program for the clusters of one run."""

    program: Path
    engine: Engine
    run_id: str

    def create(self, name: str, image: str, config: Path, kubeconfig: Path, logs: Path) -> None:
        """Create a cluster; known transient failures are tried again, visibly.

        Raises InfrastructureError with kind's own reason and where the nodes' logs are; then nothing of it runs on.
        """
        retrying = Retrying(
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_exponential(multiplier=2, max=20),
            retry=retry_if_exception_type(Transient),
            before_sleep=_tell,
            reraise=True,
        )
        retrying(self._create_once, name, image, config, kubeconfig, logs)

    def load(self, name: str, image: str) -> None:
        """Bring an image of the engine to every node. Raises InfrastructureError."""
        self._run("load", "docker-image", image, f"--name={name}")

    def export_logs(self, name: str, directory: Path) -> None:
        """Write the logs of every node to a directory. Raises InfrastructureError."""
        self._run("export", "logs", str(directory), f"--name={name}")

    def _create_once(self, name: str, image: str, config: Path, kubeconfig: Path, logs: Path) -> None:
        files = (f"--config={config}", f"--kubeconfig={kubeconfig}")
        try:
            names = (f"--name={name}", f"--image={image}")
            self._run("create", "cluster", *names, *files, "--retain", meanwhile=partial(self._check, name))
        except InfrastructureError as error:
            kept = self._keep_logs(name, logs)
            objects.remove_cluster(self.engine, name)
            kind = Transient if _TRANSIENT.search(str(error)) else InfrastructureError
            raise kind(f"{error} ({kept})") from error
        except BaseException:
            objects.remove_cluster(self.engine, name)
            raise

    def _keep_logs(self, name: str, logs: Path) -> str:
        try:
            self.export_logs(name, logs)
        except InfrastructureError as error:
            return f"its nodes' logs could not be read: {error}"
        return f"logs of its nodes: {logs}"

    def _check(self, name: str) -> None:
        """Raise InfrastructureError when a component refuses to start: kubeadm would wait for it for minutes."""
        try:
            told = nodes.shell(self.engine, f"{name}-control-plane", _ENDED)
        except InfrastructureError:
            return  # the node is not there yet
        for section in told.split("@@ ")[1:]:
            component, _, log = section.partition("\n")
            if words := refusal(log):
                raise InfrastructureError(f"{component} does not start: {words}")

    def _run(self, *arguments: str, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Run kind; what `meanwhile`, called now and then, raises ends it."""
        with subprocess.Popen(
            [self.program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=self._environment(),
        ) as running:
            try:
                told = _told(running, meanwhile)
            except BaseException:
                running.kill()
                raise
        if running.returncode:
            raise InfrastructureError(f"kind {' '.join(arguments[:2])} failed: {_words(told)}")

    def _environment(self) -> Mapping[str, str]:
        network = objects.network_name(self.run_id)
        return {**self.engine.environment(), "KIND_EXPERIMENTAL_DOCKER_NETWORK": network, LABEL: self.run_id}


def _told(running: subprocess.Popen[str], meanwhile: Callable[[], None]) -> str:
    """What it has written when it ends."""
    while True:
        try:
            return running.communicate(timeout=_GLANCE)[1]
        except subprocess.TimeoutExpired:
            meanwhile()


def _words(output: str) -> str:
    """kind's error, and the last line of the command that it ran, which mostly tells more."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    error = next((line for line in reversed(lines) if line.startswith("ERROR:")), None)
    told = [line for line in lines if "rror" in line and line != error]
    return " | ".join([*([error] if error else []), *told[-2:]]) or (lines[-1] if lines else "it told nothing")


def _tell(state: RetryCallState) -> None:
    reason = state.outcome.exception() if state.outcome else ""
    print(f"dra-e2e: once more ({state.attempt_number} of {_ATTEMPTS}): {reason}", file=sys.stderr)
