import pytest

from harness.bench.model import Series
from harness.bench.plots import Axis, Figure, amount, plot
from tests.bench.sample import bench


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 ms"), (0.000067, "0.067 ms"), (0.0039, "3.9 ms"), (0.3, "300 ms"), (2.004, "2 s")]
)
def test_amounts(seconds: float, text: str) -> None:
    assert amount(seconds) == text


def test_a_linear_axis_begins_with_zero_and_has_all_samples() -> None:
    axis = Axis.of([0.2, 1.0], False)
    assert axis.place(0) == 0
    assert 90 < axis.place(1.0) <= 100
    assert axis.ticks()[0] == (0, "0")


def test_a_logarithmic_axis_gives_each_decade_the_same_room() -> None:
    axis = Axis.of([0.02, 5.0], True)
    assert [text for _, text in axis.ticks()] == ["10 ms", "100 ms", "1 s", "10 s"]
    assert [place for place, _ in axis.ticks()] == [0, 33.33, 66.67, 100]
    assert axis.place(0) == 0


def test_equal_samples_still_have_an_axis() -> None:
    assert len(Axis.of([0.1, 0.1], True).ticks()) == 2


def test_what_stands_beside_is_below_and_on_the_same_axis() -> None:
    earlier = bench(Series("claim bound", "claim", (0.3,)))
    drawn = plot(Figure("bound", ["claim bound", "gang bound"]), bench(beside=earlier))
    assert drawn
    assert [row.beside for row in drawn.rows] == [False, True]
    assert drawn.rows[1].dots[0][0] > drawn.rows[0].dots[0][0]


def test_what_was_measured_only_beside_is_not_drawn() -> None:
    earlier = bench()
    assert plot(Figure("none", ["gang bound"]), bench(beside=earlier)) is None
