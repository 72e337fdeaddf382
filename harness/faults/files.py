"""chaos.json and its page."""

import json
from pathlib import Path

from harness import pages
from harness.errors import InfrastructureError
from harness.faults.invariants import INVARIANTS
from harness.faults.model import UNSOUND, Chaos

JSON = "chaos.json"
PAGE = "chaos.html"
#: Objects, events, logs and metrics after a fault that did not heal are in a directory of its name below this one.
EVIDENCE = "evidence"


def write(chaos: Chaos, directory: Path) -> Path:
    """Write both; returns the page. Raises InfrastructureError when there is no place for them."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        text = json.dumps(chaos.to_json(), indent=1, ensure_ascii=False)
        (directory / JSON).write_text(text + "\n", encoding="utf-8")
        (directory / PAGE).write_text(render(chaos), encoding="utf-8")
    except OSError as error:
        raise InfrastructureError(f"the report was not written: {error}") from error
    return directory / PAGE


def render(chaos: Chaos) -> str:
    """One self-contained page."""
    templates = pages.environment("harness.faults")
    slowest = max([outcome.bound for outcome in chaos.outcomes], default=1.0)
    return templates.get_template("chaos.html.j2").render(
        chaos=chaos, invariants=INVARIANTS, slowest=slowest, unsound=UNSOUND, evidence=EVIDENCE
    )
