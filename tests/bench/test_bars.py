from dataclasses import replace

from harness.bench import bars
from tests.bench.sample import backlog, bench


def test_bars_stand_in_groups_by_workload_with_the_devices_and_pods_common_to_all() -> None:
    groups = bars.groups(bench())
    assert [group.title for group in groups] == ["Pods of claim", "Pods of gang"]
    assert [bar.label for bar in groups[0].bars] == ["100 nodes", "500 nodes", "1000 nodes"]
    assert [bar.width for bar in groups[1].bars] == [bars.LONGEST / 2] * 3


def test_each_bar_has_the_other_one_right_below_it() -> None:
    earlier = replace(bench(), backlogs=tuple(backlog(nodes, rate=200) for nodes in (100, 500, 1000)))
    (claim, gang) = bars.groups(bench(beside=earlier))
    assert [bar.beside for bar in claim.bars] == [False, True] * 3
    assert [bar.width for bar in claim.bars[:2]] == [bars.LONGEST / 2, bars.LONGEST]
    assert [bar.beside for bar in gang.bars] == [False] * 3


def test_growth_has_only_points_that_differ_in_nothing_else() -> None:
    growths = {growth.title: growth for growth in bars.growths(bench(), "claim")}
    labels = {title: [point.label for point in growth.lines[0].points] for title, growth in growths.items()}
    assert labels == {
        "nodes": ["100", "500", "1000"],
        "devices in each slice": ["8", "32", "128"],
        "Pods that wait": ["50", "200", "400"],
    }


def test_what_was_not_bound_in_time_is_told() -> None:
    assert bars.text(backlog(rate=100)) == "100"
    assert bars.text(replace(backlog(), rounds=((200, 2.0), (150, 15.0)))) == "55 (150 of 200)"
    assert bars.text(replace(backlog(), rounds=((0, 15.0),))) == "0.0 (0 of 200)"


def test_nothing_measured_is_nothing_drawn() -> None:
    empty = replace(bench(), backlogs=())
    assert bars.groups(empty) == []
    assert bars.growths(empty, "claim") == []
