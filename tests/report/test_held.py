import re
from dataclasses import replace
from pathlib import Path

from harness.evidence import Recorder
from harness.report import html, markdown
from harness.report.held import held
from harness.report.model import Report
from tests.report import sample


def report() -> Report:
    """One statement whose scenario saw two gangs that were held back."""
    recorder = Recorder()
    recorder.held("workers", "resources", "minCount (4) cannot be satisfied: 3 scheduled")
    recorder.held("others", "quorum", "3 Pods kept back, none tried")
    recorder.note("all placed")
    statement = next(s for s in sample.report().statements if s.scenarios)
    seen = replace(statement.scenarios[0], observed=tuple(recorder.timeline))
    return replace(sample.report(), statements=(replace(statement, scenarios=(seen,), controls=()),))


def test_each_held_gang_says_what_it_lacks() -> None:
    assert [(gang.gang, gang.lacks) for gang in held(report())] == [("others", "quorum"), ("workers", "resources")]


def test_the_table_is_in_the_page_and_in_the_markdown(tmp_path: Path) -> None:
    (statement,) = report().statements
    page = html.render(report(), tmp_path)
    table = page[page.index("What held gangs lacked") :]
    (target,) = set(re.findall(r'<a href="#([^"]+)">' + statement.id, table))
    assert f'id="{target}"' in page
    text = markdown.render(report()).replace("\\", "")
    assert f"| resources | {statement.id} | workers | held for resources: minCount (4)" in text


def test_without_gangs_there_is_no_table(tmp_path: Path) -> None:
    assert "What held gangs lacked" not in html.render(sample.report(), tmp_path)
