import pytest

from harness.errors import UsageError
from harness.plugin.shards import Shard, bundles, share

MARKED = [(frozenset(ids.split()), weight) for ids, weight in [
    ("WF-01", 2), ("WF-02", 2), ("WF-01 XD-01", 2), ("GS-01", 20), ("XD-01 XD-02", 2), ("WF-03", 2), ("XD-02", 2)
]]  # fmt: skip


def test_scenarios_of_a_statement_stay_together() -> None:
    together = {tuple(sorted(bundle.members)): bundle.weight for bundle in bundles(MARKED)}
    assert together == {(0, 2, 4, 6): 8, (1,): 2, (3,): 20, (5,): 2}


@pytest.mark.parametrize("of", [1, 2, 3, 9])
def test_every_scenario_is_in_one_shard(of: int) -> None:
    shares = [share(MARKED, Shard(number, of)) for number in range(1, of + 1)]
    assert sorted(place for each in shares for place in each) == list(range(len(MARKED)))


def test_shards_weigh_about_the_same() -> None:
    assert share(MARKED, Shard(1, 2)) == {3}
    assert share(MARKED, Shard(2, 2)) == {0, 1, 2, 4, 5, 6}


def test_form() -> None:
    assert Shard.parse("2/5") == Shard(2, 5)
    for text in ("2", "0/2", "3/2", "a/b", "1/0"):
        with pytest.raises(UsageError, match="--shard"):
            Shard.parse(text)
