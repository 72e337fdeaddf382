"""Children have their minCount, parents their minGroupCount (CP-02, CP-03, XD-30, XD-32, XD-37)."""

import pytest

from harness.kube.predicates import count_of, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.composite.tree import (
    Child,
    child,
    composite,
    free_gpus,
    held,
    placed,
    refused,
    untouched,
    without_place,
    worker,
)


@pytest.mark.statement("CP-02")
def test_no_child_is_placed_while_one_finds_no_gpus(scenario: Scenario, difference: Difference) -> None:
    holder, taken = free_gpus(scenario, 4 if difference("there are GPUs for both children") else 3, "left", "right")
    composite(scenario, "root", min_group_count=2)
    left, right = child(scenario, "left", "root"), child(scenario, "right", "root")

    refused(scenario, left, right)

    scenario.delete(holder)
    scenario.delete(taken)
    placed(scenario, left, right)


@pytest.mark.control("CP-02")
def test_child_that_finds_gpus_is_placed_where_one_is_enough(scenario: Scenario) -> None:
    free_gpus(scenario, 3, "left", "right")
    composite(scenario, "root", min_group_count=1)
    children = [child(scenario, "left", "root"), child(scenario, "right", "root")]

    scenario.waiter.wait_any("Pod", count_of(scheduled(), 1 + 2), timeout=15)  # who holds the others, and one child
    winner, loser = sorted(children, key=lambda each: not scheduled()(scenario.get(each.workers[0])))
    placed(scenario, winner)
    refused(scenario, loser)


@pytest.mark.statement("CP-03")
def test_complete_child_waits_for_the_quorum_of_the_other(scenario: Scenario, difference: Difference) -> None:
    free_gpus(scenario, 4, "complete", "partial")
    composite(scenario, "root", min_group_count=2)
    complete = child(scenario, "complete", "root")
    partial = child(scenario, "partial", "root", workers=2 if difference("the other child is complete, too") else 1)

    held(scenario, complete, partial)

    last = worker(scenario, partial.group, 1)
    placed(scenario, complete, Child(partial.group, [*partial.workers, last]))


@pytest.mark.control("CP-03")
def test_complete_gang_without_a_parent_is_placed_alone(scenario: Scenario) -> None:
    free_gpus(scenario, 4, "complete", "partial")
    complete = child(scenario, "complete", parent=None)
    partial = child(scenario, "partial", parent=None, workers=1)

    placed(scenario, complete)
    held(scenario, partial)


@pytest.mark.statement("XD-30")
def test_nothing_is_placed_while_a_grandchild_finds_no_gpus(scenario: Scenario, difference: Difference) -> None:
    free_gpus(scenario, 6 if difference("there are GPUs for all") else 5, "first", "second", "outer")
    composite(scenario, "root", min_group_count=2)
    composite(scenario, "inner", 2, parent="root")
    family = [child(scenario, "first", "inner"), child(scenario, "second", "inner"), child(scenario, "outer", "root")]

    refused(scenario, *family)


@pytest.mark.control("XD-30")
def test_tree_of_two_levels_is_placed_as_one(scenario: Scenario) -> None:
    free_gpus(scenario, 6, "first", "second", "outer")
    composite(scenario, "root", min_group_count=2)
    composite(scenario, "inner", 2, parent="root")
    family = [child(scenario, "first", "inner"), child(scenario, "second", "inner"), child(scenario, "outer", "root")]

    placed(scenario, *family)


@pytest.mark.statement("XD-37")
def test_surplus_child_takes_what_a_later_one_needs(scenario: Scenario, difference: Difference) -> None:
    # Of children created within one second the names decide.
    inner, outer = ("b", "a") if difference("the child that needs them comes first") else ("a", "b")

    refused(scenario, *surplus(scenario, inner, outer))


@pytest.mark.control("XD-37")
def test_surplus_child_is_left_out_when_it_comes_last(scenario: Scenario) -> None:
    needed, surplus_one, outer = surplus(scenario, inner="b", outer="a")

    placed(scenario, needed, outer)
    refused(scenario, surplus_one)


def surplus(scenario: Scenario, inner: str, outer: str) -> tuple[Child, Child, Child]:
    """A gang that must be placed beside one of two others, and GPUs for two of the three, created in order of names."""
    free_gpus(scenario, 5, "inner-0", "inner-1", outer)
    composite(scenario, "root", min_group_count=2)
    last = child(scenario, outer, "root") if outer < inner else None
    composite(scenario, inner, min_group_count=1, parent="root")
    needed, spare = child(scenario, "inner-0", inner), child(scenario, "inner-1", inner)
    return needed, spare, last or child(scenario, outer, "root")


@pytest.mark.statement("XD-32")
def test_child_waits_for_the_composite_that_it_names(scenario: Scenario, difference: Difference) -> None:
    free_gpus(scenario, 4, "waiting", "later")
    if difference("the composite is there first"):
        composite(scenario, "late", min_group_count=1)
    waiting = child(scenario, "waiting", "late")
    without_place(scenario, waiting.workers)
    # A later one that goes through the same queue.
    composite(scenario, "early", min_group_count=1)
    placed(scenario, child(scenario, "later", "early"))

    untouched(scenario, waiting)

    composite(scenario, "late", min_group_count=1)
    placed(scenario, waiting)


@pytest.mark.control("XD-32")
def test_child_does_not_wait_once_its_composite_is_there(scenario: Scenario) -> None:
    free_gpus(scenario, 4, "only")
    composite(scenario, "root", min_group_count=1)

    placed(scenario, child(scenario, "only", "root"))
