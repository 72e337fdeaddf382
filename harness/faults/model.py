"""What became of each fault."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from harness.faults.invariants import INVARIANTS, Violation

#: The version of chaos.json.
SCHEMA = 1

#: `healed`: all was well again within the bound; `broken`: an invariant did not hold; `late`: something was still not
#: well after the bound; `left out`: this cluster does not let it happen.
Verdict = Literal["healed", "broken", "late", "left out"]

#: What makes a run fail.
UNSOUND: tuple[Verdict, ...] = ("broken", "late")


@dataclass(frozen=True)
class Outcome:
    """One fault and what came of it. Times are in seconds."""

    fault: str
    text: str
    bound: float
    lasted: float = 0.0
    healed: float | None = None
    """From the end of the fault until all was well; None when that did not come."""
    last: str = ""
    """What was well last."""
    steps: int = 0
    """What the load did while the fault lasted."""
    refused: int = 0
    """How much of it the API server did not take."""
    missing: Sequence[str] = ()
    """What was not well at the end."""
    during: Sequence[Violation] = ()
    """What did not hold while the fault lasted, of what must hold in every moment."""
    violations: Sequence[Violation] = ()
    """What did not hold at the end."""
    left_out: str = ""
    """Why it was."""

    @property
    def verdict(self) -> Verdict:
        """In a word."""
        if self.left_out:
            return "left out"
        if self.violations or self.during:
            return "broken"
        return "late" if self.healed is None else "healed"


@dataclass(frozen=True)
class Chaos:
    """All faults of one run."""

    started: str
    release: str
    provider: str
    profile: str
    seed: int
    outcomes: Sequence[Outcome] = field(default_factory=tuple)

    def count(self, *verdicts: Verdict) -> int:
        """How many faults came to that."""
        return sum(outcome.verdict in verdicts for outcome in self.outcomes)

    @property
    def sound(self) -> bool:
        """Whether every fault that could be tried has healed, and one could."""
        return self.count(*UNSOUND) == 0 and self.count("healed") > 0

    @property
    def headline(self) -> str:
        """In a line."""
        broken = sum(len(outcome.violations) + len(outcome.during) for outcome in self.outcomes)
        words = [f"{self.count('healed')} of {len(self.outcomes)} faults healed", f"{broken} broken invariants"]
        words += [f"{late} not well in time"] if (late := self.count("late")) else []
        words += [f"{out} left out"] if (out := self.count("left out")) else []
        return ", ".join(words)

    def to_json(self) -> dict[str, Any]:
        """The content of chaos.json."""
        return {
            "schema": SCHEMA,
            **asdict(self),
            "sound": self.sound,
            "invariants": {each.name: each.title for each in INVARIANTS},
            "outcomes": [{**asdict(outcome), "verdict": outcome.verdict} for outcome in self.outcomes],
        }
