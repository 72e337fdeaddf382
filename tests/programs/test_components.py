from pathlib import Path

import pytest

from harness import releases
from harness.errors import UsageError
from harness.programs import Components


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_own_program_replaces_the_release_s(tmp_path: Path) -> None:
    own = script(tmp_path / "patched", "echo Kubernetes v1.37.9-patched")
    components = Components.parse(component=[f"kube-scheduler={own}"])
    program = components.program("kube-scheduler", releases.get())
    assert (program.path, program.version, program.origin) == (own, "v1.37.9-patched", "replaced")
    assert components.replacements == {"kube-scheduler": program}


def test_component_of_another_release() -> None:
    components = Components.parse(component=["kubelet=1.36"])
    assert components.skewed == {"kubelet": releases.get("1.36")}


def test_flags_keep_their_order_and_their_equals_signs() -> None:
    components = Components.parse(component_arg=["kubelet=--v=5", "kubelet=--a=b=c"])
    assert components.args("kubelet") == ("--v=5", "--a=b=c")
    assert components.args("etcd") == ()


@pytest.mark.parametrize("options", [{"component": ["kube-shed=/bin/true"]}, {"component_arg": ["kube-shed=--v=5"]}])
def test_unknown_component_names_the_known_ones(options: dict[str, list[str]]) -> None:
    with pytest.raises(UsageError, match="unknown component 'kube-shed'; known are etcd, kube-apiserver"):
        Components.parse(**options)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("kubelet", "write kubelet=PATH or RELEASE"),
        ("kubelet=/no/such/file", "there is no file /no/such/file"),
        ("kubelet=1.33", "release '1.33' is not supported"),
    ],
)
def test_value_that_cannot_be(value: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        Components.parse(component=[value])


def test_component_given_twice() -> None:
    with pytest.raises(UsageError, match="given twice"):
        Components.parse(component=["kubelet=1.36", "kubelet=1.35"])


@pytest.mark.parametrize(("text", "mode"), [("exit 3", 0o755), ("echo v1.37.2", 0o644), ("\0ELF", 0o755)])
def test_program_that_does_not_run(tmp_path: Path, text: str, mode: int) -> None:
    own = tmp_path / "kubelet"
    own.write_text(text if text.startswith("\0") else f"#!/bin/sh\n{text}\n")
    own.chmod(mode)
    with pytest.raises(UsageError, match="does not run"):
        Components.parse(component=[f"kubelet={own}"])
