"""Programs built from their Go modules."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness.errors import InfrastructureError
from harness.programs.golang import environment, go_for
from harness.programs.program import Artifact
from harness.programs.progress import step
from harness.programs.recipes import Project, Recipe, fill

#: Any Go of this age can read a module's go.mod; which one the module needs stands in there.
_LEAST_GO = "1.23"


def build(recipes: Sequence[Recipe], artifacts: Sequence[Artifact], folder: Path, root: Path) -> dict[str, Path]:
    """Build programs of one project at one version, in one go, into an empty folder; return them by name.

    `root` is the cache, for a Go toolchain where the machine has none. Raises InfrastructureError with Go's own reason.
    """
    project, version = recipes[0].project, artifacts[0].version
    go, gomod = _prepare(project, version, folder, root)
    (folder / "go.mod").write_text(_main_module(project, version, gomod), "utf-8")
    out = folder / "bin"
    stamps = [f"-X {fill(stamp, artifacts[0])}" for stamp in project.stamps]
    # The user's own GOFLAGS stay in force; what we need is said on the command line, which wins.
    flags = ["-mod=mod", "-trimpath", "-tags", ",".join(project.tags), "-ldflags", " ".join(["-s -w", *stamps])]
    platform = artifacts[0].platform
    names = ", ".join(artifact.name for artifact in artifacts)
    with step(f"building {names} {version} with Go (the first time takes minutes)"):
        _run(
            [go, "build", *flags, "-o", f"{out}/", *(recipe.import_path for recipe in recipes)],
            cwd=folder,
            env=environment(CGO_ENABLED="0", GOOS=platform.os, GOARCH=platform.arch),
            what=f"{names} {version}",
        )
    return {recipe.name: out / _output_name(recipe) for recipe in recipes}


def source(recipe: Recipe, version: str, root: Path) -> Path:
    """Return the folder of a program's module in Go's module cache: it is read-only. Raises InfrastructureError."""
    go = go_for(_LEAST_GO, root)
    what = f"{recipe.project.module} {version}"
    root.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=root) as folder, step(f"fetching {what}"):
        command: list[str | Path] = [go, "mod", "download", "-json", f"{recipe.project.module}@{version}"]
        return Path(json.loads(_run(command, Path(folder), environment(), what))["Dir"])


def _output_name(recipe: Recipe) -> str:
    """Return what `go build` calls the program: the last element of its import path that is no major version."""
    elements = [element for element in recipe.import_path.split("/") if not re.fullmatch(r"v\d+", element)]
    return elements[-1]


def _prepare(project: Project, version: str, folder: Path, root: Path) -> tuple[Path, dict[str, Any]]:
    """Return a Go that is new enough for the module, and the module's go.mod."""
    go = go_for(_LEAST_GO, root)
    what = f"{project.module} {version}"
    with step(f"fetching {what}"):
        answer = _run([go, "mod", "download", "-json", f"{project.module}@{version}"], folder, environment(), what)
    path = json.loads(answer)["GoMod"]
    gomod = json.loads(_run([go, "mod", "edit", "-json", path], folder, environment(), what))
    return go_for(gomod["Go"], root), gomod


def _main_module(project: Project, version: str, gomod: dict[str, Any]) -> str:
    """Return a go.mod that builds the module as it builds itself.

    A dependency's `replace` and `godebug` lines do not count, so they are repeated here. Kubernetes replaces its
    staging modules by folders that its own module lacks; they are published as v0.MINOR.PATCH. Any other project that
    replaces by a folder (etcd does) requires the published version of the same module next to it.
    """
    lines = ["module dra-e2e.local/build", f"go {gomod['Go']}", f"require {project.module} {version}"]
    lines += [f"godebug {item['Key']}={item['Value']}" for item in gomod.get("Godebug") or ()]
    for replace in gomod.get("Replace") or ():
        old, new = replace["Old"], replace["New"]
        source = f"{old['Path']} {old['Version']}" if old.get("Version") else old["Path"]
        if new["Path"].startswith("./staging/"):
            lines.append(f"replace {source} => {old['Path']} {re.sub(r'^v1', 'v0', version)}")
        elif replacement := new.get("Version"):
            lines.append(f"replace {source} => {new['Path']} {replacement}")
    return "\n".join(lines) + "\n"


def _run(command: Sequence[str | Path], cwd: Path, env: dict[str, str], what: str) -> str:
    """Run Go and return what it prints; when we are interrupted, Go and all it started end first."""
    scratch = cwd / "tmp"
    scratch.mkdir(exist_ok=True)
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=cwd, env={**env, "GOTMPDIR": str(scratch)}, stdout=pipe, stderr=pipe, text=True, process_group=0
    ) as process:
        try:
            out, err = process.communicate()
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode < 0:
        raise InfrastructureError(f"cannot build {what}: {signal.Signals(-process.returncode).name} ended Go")
    if process.returncode:
        raise InfrastructureError(_reason(what, err + out))
    return out


def _reason(what: str, output: str) -> str:
    if "no space left on device" in output:
        return f"no space left while building {what}; free some (Go's own cache: `go clean -cache`)"
    # `go mod download -json` tells its reason in JSON, everything else in plain lines of which the last one counts.
    told = re.findall(r'^\s*"Error": (".*"),?$', output, re.MULTILINE)
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith("go: downloading")]
    hint = json.loads(told[-1]) if told else lines[-1].strip() if lines else "no reason given"
    return f"cannot build {what}: {hint}"
