"""What a component that has ended wrote at last."""

import pytest

from harness.clusters.last_words import last_words


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("I1 starting\nE1129 22:33:13 refused\nI1 bye\n", "E1129 22:33:13 refused"),
        ("Error: one\nError: two\nError: three", "Error: two | Error: three"),
        ("starting\nbye", "starting | bye"),
        ("", "it wrote nothing"),
    ],
    ids=["what tells an error", "the last errors", "without errors the last lines", "nothing"],
)
def test_last_words_tell_the_error(log: str, words: str) -> None:
    assert last_words(log) == words
