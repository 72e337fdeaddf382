"""Commands in the containers that are nodes."""

import subprocess
from collections.abc import Sequence

from harness.clusters.kind.engine import Engine
from harness.errors import InfrastructureError

_TIMEOUT = 120.0  # seconds that a command in a node may take on a busy machine


def execute(engine: Engine, node: str, command: Sequence[str], stdin: str = "", timeout: float = _TIMEOUT) -> str:
    """What a command in a node prints. Raises InfrastructureError with its last words when it fails."""
    try:
        done = subprocess.run(
            ["docker", "exec", "-i", node, *command],
            check=False,
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            env=engine.environment(),
            timeout=timeout,
        )
    except subprocess.TimeoutExpired as error:
        raise InfrastructureError(f"{_brief(command)} in node {node} did not end within {timeout:g} s") from error
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        words = lines[-1] if lines else f"exit code {done.returncode}"
        raise InfrastructureError(f"{_brief(command)} in node {node} failed: {words}")
    return done.stdout


def shell(engine: Engine, node: str, script: str, *arguments: str, timeout: float = _TIMEOUT) -> str:
    """What a shell script in a node prints; its arguments are $1, $2, …"""
    return execute(engine, node, ["sh", "-euc", script, "sh", *arguments], timeout=timeout)


def write(engine: Engine, node: str, path: str, content: str) -> None:
    """Write a file in a node (mode 0600), whole or not at all."""
    script = 'umask 077; mkdir -p "$(dirname "$1")"; cat >"$1.new"; mv "$1.new" "$1"'
    execute(engine, node, ["sh", "-euc", script, "sh", path], content)


def _brief(command: Sequence[str]) -> str:
    text = " ".join(command).replace("\n", " ")
    return text if len(text) < 80 else text[:80] + " …"
