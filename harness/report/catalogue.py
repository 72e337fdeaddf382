"""The catalogue: every statement that the suite can give a verdict on."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from harness.errors import UsageError

Source = Literal["dra-docs", "v1.37-article", "beyond", "harness"]

#: Groups in the order in which a report shows them.
GROUPS: Mapping[str, str] = {
    "WF": "Workflow",
    "PS": "Pre-scheduled Pods",
    "ER": "Extended resources",
    "TA": "Device taints",
    "TR": "Taint rules",
    "TO": "Tolerations",
    "EV": "Eviction",
    "BC": "Binding conditions",
    "GS": "Gang scheduling",
    "CP": "Composite pod groups",
    "PR": "Preemption",
    "NA": "Node allocatable resources",
    "PQ": "Prerequisites and versions",
    "OB": "Observability and advice",
    "XD": "Beyond the documents",
    "HS": "The harness itself",
}

_GROUP_OF_SOURCE = {"beyond": "XD", "harness": "HS"}
_DOCUMENTS = ("dra-docs", "v1.37-article")
_COMPONENTS = frozenset({"apiserver", "scheduler", "kcm", "kubelet", "driver-grpc"})
_NEEDS = _COMPONENTS | {"multi-node", "container", "cgroup", "restart", "bare-nodes", "power"}
_ID = re.compile(r"[A-Z]{2}-[0-9]{2}")
_TEXTS = frozenset({"id", "source", "lines", "basis", "statement", "observe", "negative"})
_OPTIONAL_TEXTS = frozenset({"min_version", "caveat", "example"})
_LISTS = frozenset({"needs", "gates", "gates_extra"})


@dataclass(frozen=True)
class Statement:
    """One claim. `lines` and `basis` say where a document makes it; they are empty for what no document says."""

    id: str
    source: Source
    statement: str
    observe: str
    negative: str
    needs: tuple[str, ...]
    gates: tuple[str, ...]
    gates_extra: tuple[str, ...] = ()
    lines: str = ""
    basis: str = ""
    min_version: str = "unstated"
    caveat: str = ""
    example: str = ""

    @property
    def group(self) -> str:
        """The two letters in front of the number."""
        return self.id.split("-")[0]

    @classmethod
    def parse(cls, raw: object) -> "Statement":
        """Check one entry of the file. Raises ValueError with what is wrong."""
        if not isinstance(raw, dict):
            raise ValueError("an entry is not a mapping")
        entry: dict[str, Any] = raw
        _check_fields(entry)
        _check_origin(entry)
        if unknown := sorted(set(entry["needs"]) - _NEEDS):
            raise ValueError(f"unknown need {unknown[0]!r}; known: {', '.join(sorted(_NEEDS))}")
        lists = {key: tuple(entry[key]) for key in _LISTS & entry.keys()}
        return cls(**{**{key: value.strip() for key, value in entry.items() if key not in _LISTS}, **lists})


def _check_fields(entry: Mapping[str, Any]) -> None:
    required = _TEXTS | {"needs", "gates"}
    if entry.get("source") not in _DOCUMENTS:
        required -= {"lines", "basis"}
    if missing := sorted(required - entry.keys()):
        raise ValueError(f"the field {missing[0]!r} is missing")
    if unknown := sorted(entry.keys() - _TEXTS - _OPTIONAL_TEXTS - _LISTS):
        raise ValueError(f"unknown field {unknown[0]!r}")
    for key, value in entry.items():
        if key in _LISTS:
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise ValueError(f"{key!r} must be a list of strings")
        elif not isinstance(value, str) or not value.strip():
            raise ValueError(f"{key!r} must be a text (put numbers in quotes)")


def _check_origin(entry: Mapping[str, str]) -> None:
    identifier, source = entry["id"], entry["source"]
    if not _ID.fullmatch(identifier) or identifier[:2] not in GROUPS:
        raise ValueError(f"{identifier!r} is no id: a group ({', '.join(GROUPS)}), a dash, two digits")
    if source not in get_args(Source):
        raise ValueError(f"unknown source {source!r}; known: {', '.join(get_args(Source))}")
    expected = _GROUP_OF_SOURCE.get(source)
    if (expected or identifier[:2]) != identifier[:2] or (
        expected is None and identifier[:2] in _GROUP_OF_SOURCE.values()
    ):
        raise ValueError(f"source {source!r} does not fit the id {identifier}: XD is beyond, HS is harness")
    if source in _DOCUMENTS:
        if entry["basis"] not in {"explicit", "implied"}:
            raise ValueError("'basis' must be explicit or implied")
    elif {"lines", "basis"} & entry.keys():
        raise ValueError(f"'lines' and 'basis' point into a document; source {source!r} has none")


class Catalogue(Mapping[str, Statement]):
    """Statements by id, in the order of the groups and then of the file."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        order = list(GROUPS)
        self._statements = {s.id: s for s in sorted(statements, key=lambda s: order.index(s.group))}

    def __getitem__(self, identifier: str) -> Statement:
        return self._statements[identifier]

    def __iter__(self) -> Iterator[str]:
        return iter(self._statements)

    def __len__(self) -> int:
        return len(self._statements)

    @cached_property
    def groups(self) -> dict[str, str]:
        """Id and title of each group that has a statement."""
        present = {statement.group for statement in self.values()}
        return {group: title for group, title in GROUPS.items() if group in present}

    def select(self, text: str) -> tuple[str, ...]:
        """Ids for a list of ids and groups such as `TA-03,TR`. Raises UsageError for one that does not exist."""
        words = [word.strip().upper() for word in text.split(",") if word.strip()]
        if not words:
            raise UsageError("no statement named: give ids or groups, such as TA-03,TR")
        for word in words:
            if word not in self and word not in self.groups:
                raise UsageError(f"unknown statement {word}; {self._nearest(word)}")
        return tuple(s.id for s in self.values() if s.id in words or s.group in words)

    def _nearest(self, word: str) -> str:
        if near := difflib.get_close_matches(word, [*self.groups, *self], n=3, cutoff=0.6):
            return f"did you mean {', '.join(near)}?"
        return f"the groups are {', '.join(self.groups)}"


def parse(text: str, origin: str = "statements.yaml") -> Catalogue:
    """Read a catalogue. Raises UsageError that names the entry and what is wrong with it."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster, and every worker reads the file
    try:
        raw = yaml.load(text, Loader=loader)  # noqa: S506 (both are safe loaders)
    except yaml.YAMLError as error:
        raise UsageError(f"{origin} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(raw, list):
        raise UsageError(f"{origin}: expected a list of statements")
    statements: dict[str, Statement] = {}
    for number, entry in enumerate(raw, start=1):
        name = entry.get("id") if isinstance(entry, dict) else None
        try:
            statement = Statement.parse(entry)
        except ValueError as error:
            raise UsageError(f"{origin}: {name or f'entry {number}'}: {error}") from error
        if statement.id in statements:
            raise UsageError(f"{origin}: {statement.id} is there twice")
        statements[statement.id] = statement
    return Catalogue(list(statements.values()))


@lru_cache(maxsize=1)
def load() -> Catalogue:
    """The project's catalogue: of the checkout where there is one, otherwise the copy inside the package."""
    checkout = Path(__file__).parents[2] / "scenarios" / "statements.yaml"
    origin: Traversable = checkout if checkout.is_file() else files(__package__).joinpath("statements.yaml")
    try:
        return parse(origin.read_text(encoding="utf-8"), origin.name)
    except FileNotFoundError as error:
        raise UsageError("statements.yaml is missing: reinstall dra-e2e or run from a checkout") from error
