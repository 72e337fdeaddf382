from collections.abc import Callable

from harness.bench.model import Series
from harness.bench.rounds import interleaved, joined


def test_two_sides_have_their_turns_in_the_order_a_b_a_b() -> None:
    order: list[str] = []

    def side(name: str) -> Callable[[], str]:
        def measure() -> str:
            order.append(name)
            return f"{name}{len(order)}"

        return measure

    assert interleaved(2, side("a"), side("b")) == [["a1", "a3"], ["b2", "b4"]]
    assert order == ["a", "b", "a", "b"]


def test_samples_of_all_rounds_make_a_series_in_the_order_in_which_they_were_taken() -> None:
    rounds = [{"bound": [3.0, 1.0]}, {"bound": [2.0], "running": [4.0]}]
    titles = {"bound": "Pod bound", "running": "Pod running", "gone": "Pod gone"}
    assert joined(titles, rounds) == [
        Series("bound", "Pod bound", (3.0, 1.0, 2.0)),
        Series("running", "Pod running", (4.0,)),
    ]
