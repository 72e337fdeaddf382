from pathlib import Path

import pytest
import yaml

from harness.errors import UsageError
from harness.report import catalogue

ENTRY: dict[str, object] = {
    "id": "WF-01",
    "source": "dra-docs",
    "lines": "17",
    "basis": "explicit",
    "statement": "It holds.",
    "observe": "See it.",
    "negative": "It does not.",
    "needs": ["apiserver"],
    "gates": [],
}
DOCUMENTED = {"lines", "basis"}
BEYOND = {k: v for k, v in ENTRY.items() if k not in DOCUMENTED} | {"id": "XD-01", "source": "beyond"}


def parse(*entries: dict[str, object]) -> catalogue.Catalogue:
    return catalogue.parse(yaml.safe_dump(list(entries)))


def test_the_projects_catalogue_is_well_formed_and_names_existing_examples() -> None:
    loaded = catalogue.load()
    documents = [s for s in loaded.values() if s.source in {"dra-docs", "v1.37-article"}]
    examples = Path(__file__).parents[2] / "scenarios" / "examples"
    assert len(documents) == 206
    assert [s.id for s in loaded.values() if s.example and not (examples / s.example).is_file()] == []


def test_groups_come_in_the_order_of_the_report() -> None:
    assert list(parse(BEYOND, {**ENTRY, "id": "TA-01"}, ENTRY)) == ["WF-01", "TA-01", "XD-01"]


def test_select_takes_ids_and_groups_once_and_in_order() -> None:
    loaded = parse(ENTRY, {**ENTRY, "id": "WF-02"}, {**ENTRY, "id": "TA-03"}, {**ENTRY, "id": "TR-01"})
    assert loaded.select("TA-03, wf,TA-03") == ("WF-01", "WF-02", "TA-03")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TA-99", "unknown statement TA-99; did you mean .*TA-09"),
        ("WF,hello", "unknown statement HELLO; the groups are WF, PS"),
        (" ,", "no statement named"),
    ],
)
def test_select_refuses_what_does_not_exist(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        catalogue.load().select(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "WF-1"}, "'WF-1' is no id"),
        ({"id": "ZZ-01"}, "'ZZ-01' is no id"),
        ({"source": "hearsay", "lines": "1"}, "unknown source 'hearsay'"),
        ({"source": "beyond"}, "source 'beyond' does not fit the id WF-01"),
        ({"id": "XD-01"}, "source 'dra-docs' does not fit the id XD-01"),
        ({"basis": "guessed"}, "'basis' must be"),
        ({"lines": 17}, "'lines' must be a text"),
        ({"negative": " "}, "'negative' must be a text"),
        ({"needs": "kubelet"}, "'needs' must be a list"),
        ({"needs": ["quantum"]}, "unknown need 'quantum'"),
        ({"colour": "red"}, "unknown field 'colour'"),
    ],
)
def test_a_wrong_entry_is_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse({**ENTRY, **change})


def test_a_field_that_is_missing_is_named() -> None:
    with pytest.raises(UsageError, match="WF-01: the field 'negative' is missing"):
        parse({key: value for key, value in ENTRY.items() if key != "negative"})


def test_what_no_document_says_has_no_lines() -> None:
    with pytest.raises(UsageError, match="point into a document"):
        parse({**BEYOND, "lines": "17"})


@pytest.mark.parametrize(
    ("text", "message"),
    [("a: [", "is not YAML"), ("a: 1", "expected a list"), ("- 1", "entry 1: an entry is not a mapping")],
)
def test_a_file_that_is_no_catalogue(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        catalogue.parse(text)


def test_an_id_is_there_once() -> None:
    with pytest.raises(UsageError, match="WF-01 is there twice"):
        parse(ENTRY, ENTRY)
