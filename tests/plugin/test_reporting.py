import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

CONFTEST = """
import json

import pytest
from harness.plugin.controller import Controller

pytest_plugins = ["harness.plugin"]
Controller.prepare = lambda self: None  # nothing here needs a cluster


@pytest.fixture
def scenario():
    return None


@pytest.fixture
def leaving_fails():
    yield
    raise RuntimeError("it did not leave")


def pytest_runtest_logreport(report):
    if hasattr(report, "dra_e2e"):
        print("RESULT", json.dumps([report.dra_e2e["outcome"], report.dra_e2e["reason"]]))
"""


def results(pytester: pytest.Pytester, test: str, *arguments: str) -> list[list[str]]:
    """Outcome and reason that the reports of one test tell."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=f"import pytest\n\n\n@pytest.mark.statement('WF-01')\n{test}\n")
    output = pytester.runpytest_subprocess("-q", "-s", *arguments).outlines
    return [json.loads(line.partition("RESULT ")[2]) for line in output if "RESULT " in line]


@pytest.fixture(autouse=True)
def _sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def test_trouble_on_leaving_does_not_hide_a_broken_statement(pytester: pytest.Pytester) -> None:
    told = results(pytester, "def test_it(scenario, leaving_fails):\n    raise AssertionError('the news')")
    assert told == [["failed", "the news"]]


def test_trouble_on_leaving_turns_a_pass_into_an_error(pytester: pytest.Pytester) -> None:
    told = results(pytester, "def test_it(scenario, leaving_fails): ...")
    assert told == [["error", "RuntimeError: it did not leave"]]


def test_a_strict_xfail_that_passes_does_not_hold(pytester: pytest.Pytester) -> None:
    told = results(pytester, "@pytest.mark.xfail(strict=True, reason='known')\ndef test_it(scenario): ...")
    assert told == [["failed", "[XPASS(strict)] known"]]


def test_what_a_cluster_does_not_show_is_skipped_for_that_reason(pytester: pytest.Pytester) -> None:
    body = "from harness.clusters.protocol import NotObservable\n    raise NotObservable('not ours to do')"
    told = results(pytester, f"def test_it(scenario):\n    {body}")
    assert told == [["skipped", "not ours to do"]]
