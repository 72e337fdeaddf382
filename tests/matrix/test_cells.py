from pathlib import Path

import pytest

from harness import releases
from harness.errors import UsageError
from harness.matrix import Cell, Done, at_once, cells, exit_code, run

PROVIDERS = ("local", "kind")


def test_every_release_on_every_provider_newest_first() -> None:
    newest = releases.supported()[0]
    found = cells([], ["local", "kind"], PROVIDERS)
    assert len(found) == 2 * len(releases.supported())
    assert found[:2] == (Cell(newest, "local"), Cell(newest, "kind"))


def test_a_cell_is_there_once_however_often_it_is_named() -> None:
    assert cells(["1.36", "v1.36", "1.37"], ["local", "local"], PROVIDERS) == (
        Cell("1.37", "local"),
        Cell("1.36", "local"),
    )


def test_emulated_releases_come_beside_the_others() -> None:
    found = cells(["1.37"], ["local"], PROVIDERS, ["1.36"])
    assert [str(cell) for cell in found] == ["1.37-local", "1.36-emulated-by-1.37-local"]
    assert found[0].arguments == ("--provider=local", "--k8s=1.37")
    assert found[1].arguments == ("--provider=local", "--k8s=1.37", "--emulate=1.36")
    with pytest.raises(UsageError, match=r"1\.37 cannot emulate 1\.37"):
        cells([], ["local"], PROVIDERS, ["1.37"])


@pytest.mark.parametrize(("minors", "providers"), [(["1.12"], ["local"]), ([], ["mars"]), ([], [])])
def test_what_is_not_there_is_told(minors: list[str], providers: list[str]) -> None:
    with pytest.raises(UsageError):
        cells(minors, providers, PROVIDERS)


def test_the_machine_bears_at_least_one() -> None:
    assert at_once() >= 1


def done(code: int, *, written: bool = True) -> Done:
    return Done(Cell("1.37", "local"), code, Path("report") if written else None, Path("output.txt"))


@pytest.mark.parametrize(
    ("codes", "expected"), [((0, 0), 0), ((0, 3, 1), 1), ((3, 0), 3), ((0, 4), 4), ((0, 2), 2), ((), 0)]
)
def test_the_worst_cell_decides(codes: tuple[int, ...], expected: int) -> None:
    assert exit_code(map(done, codes)) == expected


def test_no_report_is_never_a_success() -> None:
    assert exit_code([done(0), done(0, written=False)]) == 3


def test_a_failed_cell_does_not_stop_the_others(tmp_path: Path) -> None:
    told: list[str] = []
    wanted = cells(["1.36", "1.37"], ["local"], PROVIDERS)
    came = run(wanted, tmp_path, ["--no-such-option"], 1, told.append)
    assert [(one.cell, one.code, one.report) for one in came] == [(cell, 4, None) for cell in wanted]
    assert "--no-such-option" in came[0].log.read_text()
    assert any("ended with 4 and no report" in line for line in told)
