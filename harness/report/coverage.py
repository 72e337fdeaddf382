"""Which statements nothing shows yet."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from harness.report.catalogue import Catalogue


class Marked(Protocol):
    """A collected scenario: what its markers say."""

    @property
    def statements(self) -> tuple[str, ...]:
        """Ids it shows."""

    @property
    def controls(self) -> tuple[str, ...]:
        """Ids it is a control of."""


@dataclass(frozen=True)
class Gap:
    """A statement that lacks a scenario, a control or both."""

    id: str
    scenario_missing: bool
    control_missing: bool

    def __str__(self) -> str:
        missing = [
            word for word, gone in (("scenario", self.scenario_missing), ("control", self.control_missing)) if gone
        ]
        return f"{self.id}: no {' and no '.join(missing)}"


def uncovered(catalogue: Catalogue, collected: Iterable[Marked], groups: Iterable[str] = ()) -> tuple[Gap, ...]:
    """Statements of the groups (none named: of all) without a scenario or a control.

    Raises UsageError for a group or an id that does not exist.
    """
    marked = list(collected)
    shown = {identifier for item in marked for identifier in item.statements}
    controlled = {identifier for item in marked for identifier in item.controls}
    wanted = catalogue.select(",".join(groups)) if (groups := tuple(groups)) else tuple(catalogue)
    gaps = (Gap(identifier, identifier not in shown, identifier not in controlled) for identifier in wanted)
    return tuple(gap for gap in gaps if gap.scenario_missing or gap.control_missing)
