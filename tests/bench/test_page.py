from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from harness import bench as numbers
from harness.bench import page
from harness.bench.bars import growths
from harness.bench.model import Series
from tests.bench.sample import bench


class Tags(HTMLParser):
    """Counts elements; fails on one that is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self._open: list[str] = []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        assert "http" not in str(attrs)
        if tag not in ("meta", "circle", "line"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def test_every_sample_is_a_dot_and_every_backlog_of_all_workloads_a_bar() -> None:
    counts = Tags(page.render(bench())).counts
    points = sum(len(line.points) for growth in growths(bench(), "claim") for line in growth.lines)
    assert counts["circle"] == sum(len(series.samples) for series in bench().series) + points
    assert counts["rect"] == 6
    assert counts["svg"] == 12


def test_an_earlier_benchmark_stands_below() -> None:
    earlier = bench(Series("claim bound", "bound", (0.07,)))
    text = page.render(bench(beside=earlier))
    assert Tags(text).counts["rect"] == 12
    assert "before: p50 70 ms" in text
    assert "-50 %" in text


def test_changed_programs_are_named_and_stand_beside_the_releases_own() -> None:
    text = page.render(bench(changed=("kube-scheduler=/opt/mine",), beside=bench()))
    assert "With kube-scheduler=/opt/mine" in text
    assert "without: p50" in text
    assert "A B A B" in text


def test_a_missed_budget_is_told() -> None:
    assert "4 of 4 budgets kept" in page.render(bench())
    text = page.render(bench(Series("teardown", "teardown", (3.0,))))
    assert "3 of 4 budgets kept" in text
    assert '<td class="missed">missed</td>' in text


def test_a_part_alone_has_a_page_too() -> None:
    some = replace(bench(), series=(Series("wake-up", "waits", (0.01,)),), backlogs=())
    assert Tags(page.render(some)).counts["svg"] == 1
    assert Tags(page.render(replace(bench(), series=()))).counts["rect"] == 6


def test_written_and_read_again(tmp_path: Path) -> None:
    both = bench(beside=bench())
    written = numbers.write(both, tmp_path / "reports" / "one")
    assert written.name == "bench.html"
    assert numbers.read(written.parent) == both
    assert numbers.read(written.with_name("bench.json")) == both
