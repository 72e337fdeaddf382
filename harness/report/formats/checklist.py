"""Evidence for the items of the Kubernetes AI conformance checklist that this suite can prove."""

from collections.abc import Mapping, Sequence
from importlib.resources import files as resources
from typing import Any

import yaml

from harness.report.model import Report, ScenarioResult, StatementResult, Verdict

_DATA = "ai-checklist.yaml"


def files(report: Report) -> Mapping[str, bytes]:
    """The items to copy into a checklist, each with its scenarios; one file per release and provider."""
    return {
        f"checklist-{facts.release.replace(' ', '-')}-{facts.provider}.yaml": _render(
            [s for s in report.statements if (s.release, s.provider) == facts.column], facts.version
        )
        for facts in report.columns
    }


def _render(statements: Sequence[StatementResult], version: str) -> bytes:
    asked: dict[str, list[dict[str, Any]]] = yaml.safe_load(
        (resources("harness.report.formats") / _DATA).read_text(encoding="utf-8")
    )
    by_id = {statement.id: statement for statement in statements}
    spec = {category: [_item(item, by_id) for item in items] for category, items in asked.items()}
    head = (
        f"# What dra-e2e can say of the AI conformance checklist on Kubernetes {version}.\n"
        "# Copy the items into your own checklist; all others need evidence of another kind.\n"
    )
    return (head + yaml.safe_dump({"spec": spec}, sort_keys=False, allow_unicode=True, width=1000)).encode()


def _item(item: Mapping[str, Any], statements: Mapping[str, StatementResult]) -> dict[str, Any]:
    found = [statements[identifier] for identifier in item["statements"] if identifier in statements]
    proved = [s for s in found if s.verdict is Verdict.HOLDS]
    complete = len(proved) == len(item["statements"])
    return {
        "id": item["id"],
        "level": item["level"],
        "status": "Implemented" if complete else "Partially Implemented" if proved else "",
        "evidence": ["junit_01.xml"] if proved else [],
        "notes": f"{item['proves']} " + " ".join(f"{s.id} {s.verdict}{_scenarios(s)}." for s in found),
    }


def _scenarios(statement: StatementResult) -> str:
    names = ", ".join(_name(result) for result in statement.scenarios)
    return f": {names}" if names else ""


def _name(result: ScenarioResult) -> str:
    return result.nodeid.rsplit("::", 1)[-1]
