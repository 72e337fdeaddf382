"""Commands tell what cannot be in one line, with exit code 4, before anything is started."""

import shutil
from pathlib import Path

import pytest

from harness.cli import main
from harness.clusters.run import Run

REPORT = Path(__file__).parents[1] / "report" / "report.json"


@pytest.fixture(autouse=True)
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def create() -> Run:
        raise AssertionError("a run was made")

    monkeypatch.setattr(Run, "create", create)


@pytest.mark.parametrize("command", ["up", "bench", "chaos"])
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--k8s", "1.12"], "Kubernetes release '1.12' is not supported; choose one of"),
        (["--profile", "nope"], "there is no profile 'nope'; choose one of"),
        (["--provider", "nope"], "unknown provider 'nope': choose one of local"),
        (["--component", "nope=/bin/true"], "unknown component 'nope'; known are"),
        (["--component", "kubelet=/no/such/file"], "there is no file /no/such/file"),
        (["--component-arg", "nope=--v=5"], "unknown component 'nope'; known are"),
        (["--nodes", "0"], "--nodes must be at least 1, not 0"),
    ],
    ids=lambda value: "=".join(value) if isinstance(value, list) else "",
)
def test_a_cluster_that_cannot_be(
    command: str, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, *arguments]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("dra-e2e: ")
    assert told in line


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["statements", "NOPE"], "unknown statement NOPE"),
        (["down", "nope"], "nope is no kept run of yours"),
        (["chaos", "--fault", "nope"], "unknown fault 'nope': choose of "),
        (["chaos", "--nodes", "2"], "the standard load needs 3 nodes: give --nodes 3"),
        (["bench", "--starts", "0"], "--starts must be at least 1, not 0"),
        (
            ["bench", "--compare", "/no/such/file", "--component-arg", "kube-scheduler=--v=5"],
            "--component stands beside the release's own programs already: leave --compare out",
        ),
        (["bench", "--compare", "/no/such/file"], "no numbers at /no/such/file: No such file or directory"),
        (["report", "diff", "/no/such/old", "/no/such/new"], "no report at /no/such/old: No such file or directory"),
        (["report", "build", "/no/such/directory"], "no report at /no/such/directory: No such file or directory"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_not_there(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 4
    assert capsys.readouterr().err.startswith(f"dra-e2e: {told}")


def test_a_report_is_no_bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bench.json").write_text('{"schema": 99}')
    assert main(["bench", "--compare", str(tmp_path)]) == 4
    assert "is no bench.json of this version of dra-e2e" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "a: [\n", "[" * 100_000], ids=["empty", "no YAML", "too deep"])
@pytest.mark.parametrize(
    "command", [["explain", "pod", "a/b", "-n", "a"], ["timeline", "a"], ["release", "draft"], ["gather"]], ids=" ".join
)
def test_a_kubeconfig_that_cannot_be_used(
    command: list[str], content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config"
    file.write_text(content)
    assert main([*command, "--kubeconfig", str(file)]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("name one with --kubeconfig")


@pytest.mark.parametrize(
    "arguments",
    [
        ["bench", "--reports"],
        ["chaos", "--reports"],
        ["matrix", "--k8s", "1.37", "--reports"],
        ["report", "merge", str(REPORT), "--output"],
        ["report", "export", str(REPORT), "--format", "submission", "--output"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_place_that_cannot_be_written_is_told_first(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main([*arguments, str(tmp_path / "file")]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("file is no directory that can be written to")


def test_pages_are_built_again_by_the_file_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(REPORT, tmp_path)
    assert main(["report", "build", str(tmp_path / REPORT.name)]) == 0
    assert str(tmp_path / "index.html") in capsys.readouterr().out
    assert (tmp_path / "index.html").exists()


def test_what_nests_too_deep_is_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.json").write_text("[" * 100_000)
    assert main(["report", "build", str(tmp_path)]) == 4
    assert "is no report of this version of dra-e2e" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["nope"], ["report"], ["report", "nope"], ["up", "--nodes", "x"]], ids=str)
def test_a_wrong_command_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 4
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("usage: python -m harness")
    assert told[-1].startswith("dra-e2e: ")
