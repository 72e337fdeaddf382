"""What an explanation consists of."""

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Finding:
    """One cause. `cause` is its stable name, `sentence` says it, `facts` prove it, `remedy` is what would change it.

    Where facts fit more than one cause the findings are not `certain`: one of them is it.
    """

    cause: str
    sentence: str
    facts: tuple[str, ...] = ()
    remedy: str = ""
    certain: bool = True


@dataclass(frozen=True)
class Explanation:
    """All that was found about an object. `state` says how it is; no finding means that nothing holds it up.

    `unread` has a line for each kind of objects that could not be read: a cause that only they show may be missing.
    `notes` are facts about the object that are the cause of nothing.
    """

    subject: str
    state: str
    findings: tuple[Finding, ...] = ()
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def causes(self) -> tuple[str, ...]:
        """The names of the causes, in the order in which they are told."""
        return tuple(finding.cause for finding in self.findings)


def either(*findings: Finding) -> list[Finding]:
    """Findings of which one is the cause, and nothing tells which."""
    return [replace(finding, certain=False) for finding in findings]


def distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Each finding once, in order."""
    return list(dict.fromkeys(findings))


def some(names: Iterable[str], limit: int = 6) -> str:
    """A list for a sentence: the first ones, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - limit} more" if len(every) > limit else ""
    return ", ".join(every[:limit]) + more


def many(count: int, noun: str) -> str:
    """`1 device`, `2 devices`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
