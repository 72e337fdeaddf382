import pytest

from harness.clusters.wishes import Wishes
from harness.errors import UsageError


@pytest.mark.parametrize(
    ("provider", "image", "name", "told"),
    [
        ("local", "kindest/node:v1.37.0", None, "--image means nothing with --provider local: leave it out"),
        ("existing", None, "mine", "--cluster-name means nothing with --provider existing: leave it out"),
        ("kind", "", None, "--image names nothing"),
        ("kind", None, " ", "--cluster-name names nothing"),
        ("kind", None, "Mine", "--cluster-name Mine: a kind cluster's name has at most 40 small letters"),
        ("kind", None, "-mine", "--cluster-name -mine: a kind cluster's name"),
        ("kind", None, "m" * 41, "at most 40 small letters"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(provider: str, image: str | None, name: str | None, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        Wishes.read(provider, image, name)
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_is_left_out_is_wished_nowhere() -> None:
    assert Wishes.read("local", None, None) == Wishes()
    assert Wishes.read("kind", "mine:1", "m" * 40) == Wishes("mine:1", "m" * 40)
