"""What a sonobuoy plugin with `result-format: manual` hands in: a tree of items with a status each.

A leaf's status is free text to sonobuoy; only `passed`, `failed`, `skipped` and `unknown` are counted as such.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from harness.report.catalogue import GROUPS
from harness.report.model import Outcome, Report, ScenarioResult, StatementResult

_STATUS: dict[Outcome, str] = {"passed": "passed", "skipped": "skipped", "deselected": "skipped"}
_FAILED = "failed"

Item = dict[str, Any]


def files(report: Report) -> Mapping[str, bytes]:
    """One file, by the name under which sonobuoy looks for such results."""
    text = yaml.safe_dump(_root(report), sort_keys=False, allow_unicode=True, width=1000)
    return {"sonobuoy_results.yaml": text.encode()}


def _root(report: Report) -> Item:
    columns = []
    for facts in report.columns:
        own = [s for s in report.statements if (s.release, s.provider) == facts.column and s.results]
        groups = [_group(group, [s for s in own if s.group == group]) for group in GROUPS]
        columns.append(_node(facts.title, [group for group in groups if group["items"]]))
    return _node("dra-e2e", columns, {"run": report.run.id})


def _group(group: str, statements: Sequence[StatementResult]) -> Item:
    return _node(f"{group}: {GROUPS[group]}", [_statement(statement) for statement in statements])


def _statement(statement: StatementResult) -> Item:
    item = _node(statement.id, [_leaf(result) for result in statement.results], {"verdict": str(statement.verdict)})
    return {**item, "details": {"statement": statement.statement, "reason": statement.reason}}


def _leaf(result: ScenarioResult) -> Item:
    item: Item = {"name": result.nodeid, "status": _STATUS.get(result.outcome, _FAILED)}
    if result.reason:
        item["details"] = {"failure" if item["status"] == _FAILED else "reason": result.reason}
    return item


def _node(name: str, items: Sequence[Item], meta: Mapping[str, str] | None = None) -> Item:
    node: Item = {"name": name, "status": _together(item["status"] for item in items)}
    return {**node, **({"meta": dict(meta)} if meta else {}), "items": list(items)}


def _together(statuses: Iterable[str]) -> str:
    """One failed item fails the whole; nothing but skips is a skip, and nothing at all is unknown."""
    found = set(statuses)
    for status in (_FAILED, "passed", "skipped"):
        if status in found:
            return status
    return "unknown"
