from dataclasses import replace

from harness.evidence import Observation
from harness.report.latency import latencies, percentile
from tests.report import sample


def test_percentiles_are_values_that_were_measured() -> None:
    values = [0.4, 0.1, 0.3, 0.2]
    assert percentile(values, 50) == 0.2
    assert percentile(values, 95) == 0.4
    assert percentile([7.0], 50) == 7.0


def test_measurements_of_all_scenarios_come_together_by_name() -> None:
    report = sample.report()
    statement = next(statement for statement in report.statements if statement.scenarios)
    measured = tuple(Observation(1.0, "gone", measure="eviction", seconds=seconds) for seconds in (1.0, 3.0))
    scenarios = tuple(replace(result, observed=measured) for result in statement.scenarios[:1])
    found = latencies(replace(report, statements=(replace(statement, scenarios=scenarios, controls=()),)))
    assert [(latency.measure, latency.count, latency.p50, latency.worst) for latency in found] == [
        ("eviction", 2, 1.0, 3.0)
    ]
