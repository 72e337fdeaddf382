"""What the user cannot mean is told in one line, with exit code 4, before anything is started."""

import stat
from pathlib import Path

import pytest

from harness.clusters.kind import engine
from harness.clusters.run import Run

SCENARIO = """
import pytest

@pytest.mark.statement("WF-13")
def test_nothing(scenario):
    raise RuntimeError("it must not come to this")
"""


@pytest.fixture(autouse=True)
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def create() -> Run:
        raise AssertionError("a run was made")

    monkeypatch.setattr(Run, "create", create)


def complaint(pytester: pytest.Pytester, *arguments: str, scenario: str = SCENARIO) -> str:
    """The one line that pytest writes; fails the test when there is more, or another exit code than that of usage."""
    pytester.makepyfile(test_it=scenario)
    done = pytester.runpytest_inprocess("-p", "harness.plugin", "-q", *arguments)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    output = done.outlines + done.errlines
    assert not [line for line in output if "Traceback" in line or "INTERNALERROR" in line]
    (line,) = [line for line in output if line.startswith("ERROR: ")]
    return line.removeprefix("ERROR: ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--k8s", "1.12"], "Kubernetes release '1.12' is not supported; choose one of"),
        (["--emulate", "1.12"], "Kubernetes release '1.12' is not supported"),
        (["--emulate", "1.37"], "Kubernetes 1.37 cannot emulate 1.37: choose one of 1.36, 1.35, 1.34"),
        (["--emulate", "1.37", "--k8s", "1.36"], "Kubernetes 1.36 cannot emulate 1.37: choose one of 1.35, 1.34"),
        (["--k8s", "newest"], "Kubernetes release 'newest' is not supported; choose one of"),
        (["--profile", "nope"], "there is no profile 'nope'; choose one of defaults, features"),
        (["--profile", "./nope.yaml"], "cannot read nope.yaml: No such file"),
        (["--provider", "nope"], "unknown provider 'nope': choose one of"),
        (["--provider", "existing"], "an existing cluster needs --kubeconfig FILE"),
        (["--provider", "existing", "--kubeconfig", "/no/such"], "cannot read kubeconfig /no/such: No such file"),
        (["--driver", "gpu.example.com"], "--driver means nothing with --provider local: leave it out"),
        (["--nodes", "0"], "--nodes must be at least 1, not 0"),
        (["--image", "kindest/node:v1.37.0"], "--image means nothing with --provider local: leave it out"),
        (["--cluster-name", "mine"], "--cluster-name means nothing with --provider local: leave it out"),
        (["--provider", "kind", "--cluster-name", "Mine"], "--cluster-name Mine: a kind cluster's name has at most"),
        (["--provider", "existing", "--nodes", "2"], "--nodes means nothing with --provider existing: leave it out"),
        (["--component", "nope=/bin/true"], "unknown component 'nope'; known are etcd"),
        (["--component", "kubelet=/no/such/file"], "there is no file /no/such/file"),
        (["--component", "kubelet=1.12"], "Kubernetes release '1.12' is not supported"),
        (["--component", "kubelet"], "write kubelet=PATH or RELEASE"),
        (["--component-arg", "nope=--v=5"], "unknown component 'nope'; known are etcd"),
        (["--statement", "WF-99"], "unknown statement WF-99; did you mean"),
        (["--statement", "NOPE"], "unknown statement NOPE"),
        (["--statement", ""], "no statement named"),
        (["--shard", "2"], "--shard 2: write it like 2/5, the second of five"),
        (["--shard", "3/2"], "--shard 3/2: the first number must be from 1 to 2"),
        (["--rounds", "0"], "--rounds must be at least 1, not 0"),
        (["--time-factor", "0"], "--time-factor must be greater than 0"),
        (["no/such/group"], "there is no file or directory no/such/group"),
        (["--reports", "/dev/null/reports"], "/dev/null is no directory that can be written to"),
    ],
    ids=lambda value: "=".join(value) if isinstance(value, list) else "",
)
def test_options(pytester: pytest.Pytester, arguments: list[str], told: str) -> None:
    assert told in complaint(pytester, *arguments)


def test_kind_without_an_engine(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "find", lambda: None)
    line = complaint(pytester, "--provider", "kind", scenario="raise RuntimeError('nothing is collected')")
    assert line == engine.NONE


def test_a_gate_that_no_release_has_is_told_with_the_nearest_name(pytester: pytest.Pytester) -> None:
    pytester.makefile(
        ".yaml",
        mine="kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nfeatureGates: {DynamicResourceAlocation: true}\n",
    )
    line = complaint(pytester, "--profile", "mine.yaml")
    assert "no supported Kubernetes release has a feature gate 'DynamicResourceAlocation'; did you mean" in line
    assert "DynamicResourceAllocation" in line.split("did you mean")[1]


def test_a_component_that_does_not_run(pytester: pytest.Pytester, tmp_path: Path) -> None:
    program = tmp_path / "kubelet"
    program.write_text("#!/bin/sh\nexit 7\n")
    assert "does not run: Permission denied" in complaint(pytester, "--component", f"kubelet={program}")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    line = complaint(pytester, "--component", f"kubelet={program}")
    assert f"--component kubelet: {program} --version does not run: exit code 7" in line


@pytest.mark.parametrize(
    ("marker", "told"),
    [
        ('statement("WF-99")', "statement('WF-99'): the catalogue has no such statement"),
        ('control("WF-99")', "control('WF-99'): the catalogue has no such statement"),
        ('statement("WF-13", "WF-99")', "statement('WF-99'): the catalogue has no such statement"),
        ('deviates("WF-13", "why")', "deviates(WF-13) without statement() of that ID"),
        ('needs("gpu")', "needs(gpu): known are"),
        ('feature("Pod.spec.wings")', "feature('Pod.spec.wings'): no release's data has it"),
        ('exclusive("galaxy")', "say 'cluster' or 'node'"),
        ('profile("nope")', "there is no profile 'nope'"),
        ('profile("features", off={"kube-scheduler": ["Nope"]})', "feature gate 'Nope'"),
        ('profile("features", off={"scheduler": ["DRADeviceTaints"]})', "unknown component 'scheduler'"),
        ('profile(nam="features")', "unexpected keyword argument 'nam'"),
        ('deviates("WF-13")', "missing 1 required positional argument: 'why'"),
    ],
)
def test_markers(pytester: pytest.Pytester, marker: str, told: str) -> None:
    other = "" if marker.startswith(("statement", "deviates")) else '@pytest.mark.statement("WF-13")\n'
    text = f"import pytest\n\n{other}@pytest.mark.{marker}\ndef test_it(scenario): ...\n"
    line = complaint(pytester, scenario=text)
    assert told in line
    assert "test_it.py::test_it" in line


def test_a_scenario_without_a_statement(pytester: pytest.Pytester) -> None:
    line = complaint(pytester, scenario="def test_it(scenario): ...\n")
    assert "a scenario needs @pytest.mark.statement or @pytest.mark.control" in line
