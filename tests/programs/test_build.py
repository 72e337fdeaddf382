"""Real Go builds of a module of a few lines, served from a folder."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import psutil
import pytest

from harness import releases
from harness.errors import InfrastructureError
from harness.programs.program import Platform
from harness.programs.supply import Supply

pytestmark = pytest.mark.skipif(shutil.which("go") is None, reason="needs Go on PATH")

RELEASE = releases.get("1.37")
NOBODY = "http://127.0.0.1:9"

VERSION_PACKAGE = """package version

var gitVersion, gitMajor, gitMinor string

func Get() string { return gitVersion + " " + gitMajor + " " + gitMinor }
"""
MAIN = 'package main\n\nimport "k8s.io/component-base/version"\n\nfunc main() { println(version.Get()) }\n'
KUBERNETES_MOD = """module k8s.io/kubernetes
go 1.23
godebug default=go1.23
require k8s.io/component-base v0.0.0
replace k8s.io/component-base => ./staging/src/k8s.io/component-base
"""


@pytest.fixture
def proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module proxy with a Kubernetes that consists of its version, shaped like the real one."""
    folder = tmp_path / "proxy"
    publish(
        folder,
        "k8s.io/component-base",
        "v0.37.2",
        "module k8s.io/component-base\ngo 1.23\n",
        {"version/v.go": VERSION_PACKAGE},
    )
    mains = {f"cmd/{name}/main.go": MAIN for name in ("kubelet", "kubectl")}
    publish(folder, "k8s.io/kubernetes", "v1.37.2", KUBERNETES_MOD, mains)
    monkeypatch.setenv("GOPROXY", folder.as_uri())
    return folder


def publish(proxy: Path, module: str, version: str, gomod: str, files: dict[str, str]) -> None:
    folder = proxy / module / "@v"
    folder.mkdir(parents=True)
    (folder / f"{version}.info").write_text(json.dumps({"Version": version}))
    (folder / f"{version}.mod").write_text(gomod)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in {"go.mod": gomod, **files}.items():
            archive.writestr(f"{module}@{version}/{name}", text)
    (folder / f"{version}.zip").write_bytes(content.getvalue())


@pytest.mark.usefixtures("proxy")
def test_programs_are_built_with_their_version(tmp_path: Path) -> None:
    programs = Supply(tmp_path / "cache", NOBODY).get_all(["kubelet", "kubectl"], RELEASE)
    for name in ("kubelet", "kubectl"):
        ran = subprocess.run([programs[name].path], capture_output=True, text=True, check=True)
        assert ran.stderr == "v1.37.2 1 37\n"
        assert programs[name].origin == "built"


@pytest.mark.usefixtures("proxy")
def test_truncated_program_is_built_again(tmp_path: Path) -> None:
    supply = Supply(tmp_path / "cache", NOBODY)
    first = supply.get_all(["kubelet"], RELEASE)["kubelet"]
    os.truncate(first.path, 100)
    again = supply.get_all(["kubelet"], RELEASE)["kubelet"]
    assert again.path.stat().st_size > 100
    assert again.sha256 == first.sha256


@pytest.mark.usefixtures("proxy")
def test_program_for_another_machine(tmp_path: Path) -> None:
    program = Supply(tmp_path / "cache", NOBODY).get_all(["kubelet"], RELEASE, Platform("linux", "arm64"))["kubelet"]
    assert program.path.read_bytes()[18:20] == b"\xb7\x00"  # ELF's e_machine: EM_AARCH64
    assert "linux-arm64" in program.path.parts


def test_program_that_does_not_compile(proxy: Path, tmp_path: Path) -> None:
    shutil.rmtree(proxy / "k8s.io/kubernetes")
    publish(proxy, "k8s.io/kubernetes", "v1.37.2", KUBERNETES_MOD, {"cmd/kubelet/main.go": "package main\n"})
    with pytest.raises(
        InfrastructureError,
        match=r"cannot build kubelet v1\.37\.2: .*main.* \(nor downloaded: 127\.0\.0\.1:9 cannot be reached\)",
    ):
        Supply(tmp_path / "cache", NOBODY).get_all(["kubelet"], RELEASE)
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.name != "lock"]


@pytest.mark.usefixtures("proxy")
def test_go_that_somebody_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = tmp_path / "go"
    go.write_text(f'#!/bin/sh\nif [ "$1" != build ]; then exec {shutil.which("go")} "$@"; fi\nkill -KILL $$\n')
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(InfrastructureError, match=r"cannot build kubelet v1\.37\.2: SIGKILL ended Go"):
        Supply(tmp_path / "cache", NOBODY).get_all(["kubelet"], RELEASE)


GET = f"""
import sys
from pathlib import Path
from harness import releases
from harness.programs.supply import Supply
program = Supply(Path(sys.argv[1]), {NOBODY!r}).get_all(["kubelet"], releases.get("1.37"))["kubelet"]
print(program.sha256, program.path.stat().st_ino)
"""


def start_get(root: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", GET, str(root)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


@pytest.mark.usefixtures("proxy")
def test_processes_that_ask_at_once_share_one_build(tmp_path: Path) -> None:
    running = [start_get(tmp_path / "cache") for _ in range(4)]
    answers = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0] * 4
    assert len(set(answers)) == 1  # the same file: nobody replaced it


@pytest.mark.usefixtures("proxy")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_build_ends_go_and_leaves_nothing(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A `go` that tells its process id and then never ends stands in for minutes of compiling.
    tools = tmp_path / "tools"
    tools.mkdir()
    go = tools / "go"
    real = shutil.which("go")
    go.write_text(
        f'#!/bin/sh\nif [ "$1" != build ]; then exec {real} "$@"; fi\necho $$ > {tools}/pid\nexec sleep 600\n'
    )
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    process = start_get(tmp_path / "cache")
    deadline = time.monotonic() + 30
    while not (tools / "pid").exists() or not (tools / "pid").read_text().strip():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode != 0
    assert not psutil.pid_exists(int((tools / "pid").read_text()))
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.name != "lock"]
