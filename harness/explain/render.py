"""Explanations as text: for people, for programs, and in one or two lines."""

import json
from dataclasses import asdict

from harness.explain.model import Explanation, Finding

_WIDTH = 400


def text(explanation: Explanation) -> str:
    """For people."""
    lines = [f"{explanation.subject}: {explanation.state}"]
    lines += [line for finding in explanation.findings if finding.certain for line in ("", *_paragraph(finding))]
    doubtful = [finding for finding in explanation.findings if not finding.certain]
    if doubtful:
        lines += ["", "The facts fit each of these; one is the cause:"]
        lines += [line for finding in doubtful for line in _paragraph(finding)]
    if not explanation.findings:
        lines += ["", "Nothing holds it up."]
    lines += ["", *explanation.notes] if explanation.notes else []
    lines += ["", *(f"not known: {line}" for line in explanation.unread)] if explanation.unread else []
    return "\n".join(lines)


def as_json(explanation: Explanation) -> str:
    """For programs: the fields of `Explanation` and `Finding`."""
    return json.dumps(asdict(explanation), indent=2)


def brief(explanation: Explanation) -> str:
    """In a line or two: the causes, without their proof."""
    certain = [f"{each.cause}: {each.sentence}" for each in explanation.findings if each.certain]
    doubtful = [f"{each.cause}: {each.sentence}" for each in explanation.findings if not each.certain]
    lines = certain[:2] if len(certain) <= 2 else [certain[0], f"{certain[1]} (and {len(certain) - 2} more causes)"]
    lines += ["either " + ", or ".join(doubtful)] if doubtful else []
    return "\n".join(line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…" for line in lines[:2])


def _paragraph(finding: Finding) -> list[str]:
    lines = [f"{finding.cause}: {finding.sentence}", *(f"  - {fact}" for fact in finding.facts)]
    return [*lines, f"  to change it: {finding.remedy}"] if finding.remedy else lines
