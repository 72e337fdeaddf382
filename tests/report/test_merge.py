from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.report import files, html
from harness.report.merge import merge, unite
from harness.report.model import Report, Verdict
from tests.report import sample


def run_of(release: str, provider: str = "local", name: str = "") -> Report:
    report = sample.report((release, provider))
    return replace(report, run=replace(report.run, id=name or f"run-{release}"))


def with_verdicts(report: Report, **verdicts: Verdict) -> Report:
    """The same report with other verdicts, by id with `_` for `-`; all others were not selected."""
    chosen = {identifier.replace("_", "-"): verdict for identifier, verdict in verdicts.items()}
    changed = (replace(s, verdict=chosen.get(s.id, Verdict.NOT_SELECTED)) for s in report.statements)
    return replace(report, statements=tuple(changed))


def test_columns_stand_side_by_side_newest_release_first() -> None:
    merged = unite([run_of("1.34"), run_of("1.37"), run_of("1.36")])
    assert [facts.release for facts in merged.columns] == ["1.37", "1.36", "1.34"]
    assert len(merged.statements) == 3 * len(sample.statements())
    assert merged.run.duration == pytest.approx(3 * sample.report().run.duration)
    assert merged.run.warnings[0].startswith("1.34 local: gate GangScheduling")


def test_emulation_stands_beside_the_release_itself() -> None:
    names = ["1.37", "1.36 emulated by 1.37", "1.35", "1.36", "1.99"]
    merged = unite([run_of(name) for name in names])
    assert [facts.release for facts in merged.run.releases] == ["1.37", "1.36", "1.36 emulated by 1.37", "1.35", "1.99"]


def test_shards_of_one_cell_make_one_column() -> None:
    one = with_verdicts(run_of("1.37", name="a"), WF_01=Verdict.HOLDS, WF_02=Verdict.HOLDS)
    other = with_verdicts(run_of("1.37", name="b"), WF_02=Verdict.BROKEN, PS_01=Verdict.HOLDS)
    verdicts = sample.verdicts(unite([one, other]).statements)
    assert verdicts["WF-01"] is Verdict.HOLDS
    assert verdicts["WF-02"] is Verdict.BROKEN
    assert verdicts["PS-01"] is Verdict.HOLDS
    assert verdicts["PS-02"] is Verdict.NOT_SELECTED


def test_controls_and_statements_do_not_mix() -> None:
    controls = run_of("1.36")
    with pytest.raises(UsageError, match="opposite questions"):
        unite([run_of("1.37"), replace(controls, run=replace(controls.run, mode="controls"))])


def test_evidence_comes_along_and_nothing_else_does(tmp_path: Path) -> None:
    evidence = tmp_path / "one" / "evidence/wf-12"
    evidence.mkdir(parents=True)
    (evidence / "events.txt").write_text("seen")
    (tmp_path / "one" / "admin.key").write_text("secret")
    files.write(run_of("1.37"), tmp_path / "one")
    files.write(run_of("1.36"), tmp_path / "two")

    merge([tmp_path / "one", tmp_path / "two" / "report.json"], tmp_path / "all")

    assert (tmp_path / "all/runs/run-1.37/evidence/wf-12/events.txt").read_text() == "seen"
    assert not list((tmp_path / "all").rglob("admin.key"))
    assert "runs/run-1.37/evidence/wf-12/events.txt" in (tmp_path / "all/index.html").read_text()


def test_the_page_tells_what_changed_from_release_to_release(tmp_path: Path) -> None:
    older = with_verdicts(run_of("1.36"), WF_01=Verdict.BROKEN)
    newer = with_verdicts(run_of("1.37"), WF_01=Verdict.HOLDS)
    page = html.render(unite([older, newer]), tmp_path)
    assert "1.36 → 1.37 on local: 1 newly holds" in page
    assert "PodGroup.spec.podGroupTemplateRef.workload → PodGroup.spec.workloadRef" in page


def test_what_is_the_same_in_several_releases_is_told_once(tmp_path: Path) -> None:
    reports = [with_verdicts(run_of(release), WF_12=Verdict.BROKEN) for release in ("1.37", "1.36", "1.35")]
    page = html.render(unite(reports), tmp_path)
    attention = page.split('<ul class="attention">')[1].split("</ul>")[0]
    assert attention.count('<span class="id">WF-12</span>') == 1
    assert all(f"{release} local" in attention for release in ("1.37", "1.36", "1.35"))


def test_emulation_is_compared_with_the_release_itself(tmp_path: Path) -> None:
    names = ("1.37", "1.36", "1.36 emulated by 1.37", "1.35")
    page = html.render(unite([run_of(name) for name in names]), tmp_path)
    assert "1.36 → 1.37 on local" in page
    assert "1.35 → 1.36 on local" in page
    assert "1.36 → 1.36 emulated by 1.37 on local" in page
    assert "1.36 emulated by 1.37 → 1.36" not in page


def test_nothing_to_merge_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to merge"):
        merge([], tmp_path)
    with pytest.raises(UsageError, match="no report at"):
        merge([tmp_path / "gone"], tmp_path)


def test_a_run_counts_once(tmp_path: Path) -> None:
    files.write(run_of("1.37"), tmp_path / "one")
    with pytest.raises(UsageError, match=r"run run-1\.37 is in more than one of the reports"):
        merge([tmp_path / "one", tmp_path / "one/report.json"], tmp_path / "all")
    with pytest.raises(UsageError, match="name each run once"):
        unite([unite([run_of("1.37"), run_of("1.36")]), run_of("1.36")])
    assert not (tmp_path / "all").exists()
