"""JUnit, Markdown and HTML of the sample."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from harness.report import html, junit, markdown
from harness.report.model import Report, Verdict
from harness.report.summary import headline
from tests.report import sample


def cases(report: Report) -> dict[str, ElementTree.Element]:
    found = ElementTree.fromstring(junit.render(report)).iter("testcase")
    return {case.attrib["name"]: case for case in found}


def properties(case: ElementTree.Element) -> dict[str, str]:
    return {item.attrib["name"]: item.attrib["value"] for item in case.iter("property")}


def test_junit_has_one_case_per_scenario_and_control() -> None:
    assert len(cases(sample.report())) == len(sample.results())


def test_junit_says_what_a_case_is_about() -> None:
    found = cases(sample.report())
    assert properties(found["test_claim_is_shared"]) == {
        "statement": "WF-12",
        "verdict.WF-12": "broken",
        "evidence": "evidence/wf-12",
    }
    assert properties(found["test_ps_05_comes_out_otherwise"]) == {"control": "PS-05", "verdict.PS-05": "deviates"}


def test_junit_tells_outcomes_apart() -> None:
    found = cases(sample.report())
    kinds = {name: {child.tag for child in case} for name, case in found.items()}
    assert "failure" in kinds["test_claim_is_shared"]
    assert "error" in kinds["test_driver_comes_back"]
    assert "skipped" in kinds["test_sees_device"]
    assert kinds["test_wf_01_happens"] == {"properties", "system-out"}


def test_junit_counts_per_release_and_provider() -> None:
    suites = ElementTree.fromstring(junit.render(sample.report(("1.36", "local"), ("1.37", "kind"))))
    numbers = [(s.attrib["name"], s.attrib["failures"], s.attrib["errors"], s.attrib["skipped"]) for s in suites]
    assert numbers == [("dra-e2e 1.36 local", "1", "1", "2"), ("dra-e2e 1.37 kind", "1", "1", "2")]


def test_a_run_whose_cluster_never_spoke_still_shows_its_errors(tmp_path: Path) -> None:
    report = replace(sample.report(), run=replace(sample.report().run, releases=()))
    assert len(cases(report)) == len(sample.results())
    assert "Kubernetes v1.37 on local" in markdown.render(report)
    assert "Kubernetes v1.37 on local" in html.render(report, tmp_path)


def test_junit_survives_what_xml_cannot_say() -> None:
    report = sample.report()
    broken = next(s for s in report.statements if s.verdict is Verdict.BROKEN)
    coloured = replace(broken, scenarios=(replace(broken.scenarios[0], reason="\x1b[31mred\x00"),))
    failure = cases(replace(report, statements=(coloured,)))["test_claim_is_shared"].find("failure")
    assert failure is not None
    assert failure.attrib["message"] == "\N{REPLACEMENT CHARACTER}[31mred\N{REPLACEMENT CHARACTER}"


def test_markdown_has_the_answer_and_all_that_does_not_hold() -> None:
    text = markdown.render(sample.report())
    assert f"**{headline(sample.report())}**" in text
    assert re.findall(r"^### (\S+ \S+)", text, re.M) == [
        "WF-12 broken",
        "WF-14 error",
        "WF-15 unproved",
        "PS-05 deviates",
    ]


def test_markdown_takes_nothing_from_the_cluster_for_markup() -> None:
    report = replace(sample.report(), run=replace(sample.report().run, warnings=("<script> | [x](y)",)))
    assert r"\<script\> \| \[x\](y)" in markdown.render(report)


def test_headline() -> None:
    trouble = "1 deviates in a known way, 1 is broken, 1 could not be tried, 1 is unproved"
    assert headline(sample.report()) == f"36 of 40 statements under test hold, {trouble}."
    assert headline(replace(sample.report(), statements=())) == "No statement about Kubernetes was under test."


class Links(HTMLParser):
    """Everything a page refers to, its fragments, and its elements by verdict."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.verdicts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.addresses += [values[name] for name in ("href", "src") if name in values]
        self.ids += [values["id"]] if "id" in values else []
        self.verdicts += [values["data-verdict"]] if "data-verdict" in values else []


def test_html_has_every_statement_of_every_column(tmp_path: Path) -> None:
    report = sample.report(("1.36", "local"), ("1.37", "kind"))
    page = Links(html.render(report, tmp_path))
    assert sorted(page.verdicts) == sorted(str(statement.verdict) for statement in report.statements)
    assert len(page.ids) == len(set(page.ids))


def test_html_needs_nothing_from_outside(tmp_path: Path) -> None:
    (tmp_path / "evidence" / "wf-12").mkdir(parents=True)
    (tmp_path / "evidence" / "wf-12" / "a b#.txt").write_text("x")
    page = Links(html.render(sample.report(), tmp_path))
    fragments = {address[1:] for address in page.addresses if address.startswith("#")}
    assert fragments <= set(page.ids)
    others = {address for address in page.addresses if not address.startswith("#")}
    assert others == {"data:,", "report.json", "junit_01.xml", "report.md", "evidence/wf-12/a%20b%23.txt"}


def test_html_takes_nothing_from_the_cluster_for_markup(tmp_path: Path) -> None:
    report = sample.report()
    broken = next(s for s in report.statements if s.verdict is Verdict.BROKEN)
    hostile = replace(broken, reason="<script>alert(1)</script>")
    page = html.render(replace(report, statements=(hostile,)), tmp_path)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_html_draws_every_scenario_once(tmp_path: Path) -> None:
    report = sample.report()
    drawn = {result.nodeid for result in report.scenarios().values() if result.timeline}
    bare = replace(
        report,
        statements=tuple(
            replace(s, scenarios=tuple(replace(r, timeline=None) for r in s.scenarios), controls=())
            for s in report.statements
        ),
    )
    assert html.render(report, tmp_path).count('class="axis"') == len(drawn) > 0
    assert 'class="axis"' not in html.render(bare, tmp_path)


def test_the_timeline_stays_on_its_axis(tmp_path: Path) -> None:
    places = re.findall(r'style="left:([\d.]+)%"', html.render(sample.report(), tmp_path))
    assert places
    assert all(0 <= float(place) <= 100 for place in places)
