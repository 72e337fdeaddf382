import json
from dataclasses import replace

import pytest

from harness.bench.model import Backlog, Bench, Series
from tests.bench.sample import bench

HUNDRED = Series("wake-up", "wake-up", tuple(float(number) for number in range(100, 0, -1)))


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (1, 1), (50, 50), (95, 95), (99, 99), (100, 100)])
def test_percentiles_are_samples(percent: float, expected: float) -> None:
    assert HUNDRED.percentile(percent) == expected


def test_a_percentile_of_few_samples_is_the_slowest() -> None:
    assert Series("few", "few", (3.0, 1.0, 2.0)).percentile(99) == 3.0


def test_budgets_kept() -> None:
    assert [budget.kept for budget in bench().budgets] == [True, True, True, True]
    assert bench().budgets[0].measured == 2.5


@pytest.mark.parametrize(
    ("series", "number"),
    [
        (Series("start", "start", (5.1, 5.1, 4.0)), 0),
        (Series("teardown", "teardown", (0.1, 0.1, 2.1)), 1),
        (Series("empty scenario", "empty", (0.31,)), 2),
        (Series("wake-up", "wake-up", (*[0.001] * 98, 0.06, 0.06)), 3),
    ],
    ids=lambda value: value.name if isinstance(value, Series) else "",
)
def test_each_budget_can_be_missed(series: Series, number: int) -> None:
    kept = [budget.kept for budget in bench(series).budgets]
    assert kept == [index != number for index in range(4)]


def test_json_and_back() -> None:
    data = json.loads(json.dumps(bench().to_json()))
    assert Bench.from_json(data) == bench()
    assert data["budgets"][0]["kept"] is True
    assert data["backlogs"][0]["pods_per_second"] == 100


def test_json_and_back_with_the_one_beside() -> None:
    both = bench(beside=bench(), changed=("kube-scheduler=/opt/mine",))
    assert Bench.from_json(json.loads(json.dumps(both.to_json()))) == both


def test_a_rate_is_the_median_of_the_rounds_and_a_backlog_that_was_not_done_says_so() -> None:
    found = Backlog("claim", "claims", 100, 8, 200, ((200, 2.0), (200, 4.0), (90, 15.0)))
    assert found.rates == (100.0, 50.0, 6.0)
    assert found.rate == 50.0
    assert not found.complete
    assert replace(found, rounds=((200, 2.0),)).complete


def test_another_schema_is_refused() -> None:
    data = bench().to_json()
    with pytest.raises(ValueError, match="schema 1 instead of 2"):
        Bench.from_json({**data, "schema": 1})
