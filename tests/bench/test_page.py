from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness import bench as numbers
from harness.bench import page
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


def test_every_sample_is_a_dot() -> None:
    counts = Tags(page.render(bench(), None)).counts
    assert counts["circle"] == sum(len(series.samples) for series in bench().series)
    assert counts["svg"] == 5


def test_an_earlier_benchmark_stands_below() -> None:
    earlier = bench(Series("bound", "bound", (0.04,)))
    text = page.render(bench(), earlier)
    assert Tags(text).counts["circle"] == 2 * Tags(page.render(bench(), None)).counts["circle"]
    assert "bound (earlier)" in text
    assert "-50 %" in text


def test_a_missed_budget_is_told() -> None:
    assert "4 of 4 budgets kept" in page.render(bench(), None)
    text = page.render(bench(Series("teardown", "teardown", (3.0,))), None)
    assert "3 of 4 budgets kept" in text
    assert '<td class="missed">missed</td>' in text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 ms"), (0.000067, "0.067 ms"), (0.0039, "3.9 ms"), (0.3, "300 ms"), (2, "2.00 s")]
)
def test_amounts(seconds: float, text: str) -> None:
    assert page.amount(seconds) == text


def test_written_and_read_again(tmp_path: Path) -> None:
    written = numbers.write(bench(), tmp_path / "reports" / "one", None)
    assert written.name == "bench.html"
    assert numbers.read(written.parent) == bench()
    assert numbers.read(written.with_name("bench.json")) == bench()
