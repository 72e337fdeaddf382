"""The report as Markdown, for a pull request or a terminal."""

import re

from harness.report import held, latency, summary
from harness.report.catalogue import GROUPS
from harness.report.model import Report, StatementResult, Verdict


def render(report: Report) -> str:
    """The answer, the numbers per group, and everything that does not simply hold."""
    parts = (_head(report), _groups(report), _latencies(report), _held(report), _remarkable(report), _run(report))
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(report: Report) -> str:
    return f"# {summary.subject(report)}\n\n**{summary.headline(report)}**"


def _groups(report: Report) -> str:
    counts = summary.count_groups(report.statements)
    verdicts = [verdict for verdict in Verdict if any(verdict in numbers for numbers in counts.values())]
    rows = [
        f"| {group} | {title} | " + " | ".join(str(counts[group].get(verdict, "")) for verdict in verdicts) + " |"
        for group, title in GROUPS.items()
        if group in counts
    ]
    head = f"| Group | About | {' | '.join(verdicts)} |\n|---|---|{'---:|' * len(verdicts)}"
    return "\n".join([head, *rows])


def _latencies(report: Report) -> str:
    rows = [
        f"| {_text(found.measure)} | {found.p50:.2f} s | {found.p95:.2f} s | {found.worst:.2f} s | {found.count} |"
        for found in latency.latencies(report)
    ]
    head = ["## How long it took\n", "| Measure | p50 | p95 | longest | times |", "|---|---:|---:|---:|---:|"]
    return "\n".join([*head, *rows]) if rows else ""


def _held(report: Report) -> str:
    rows = [
        f"| {gang.lacks} | {gang.statement.id} | {_text(gang.gang)} | {_text(gang.text)} |"
        for gang in held.held(report)
    ]
    head = ["## What held gangs lacked\n", "| Lacks | Statement | Gang | What the cluster says |", "|---|---|---|---|"]
    return "\n".join([*head, *rows]) if rows else ""


def _remarkable(report: Report) -> str:
    found = summary.remarkable(report.statements)
    return "\n\n".join(["## Not simply holding", *map(_statement, found)]) if found else ""


def _statement(statement: StatementResult) -> str:
    lines = [
        f"### {statement.id} {statement.verdict} ({statement.release}, {statement.provider})",
        f"> {_text(statement.statement)}",
        _text(statement.reason),
        "\n".join(_result(result.nodeid, result.outcome, result.evidence) for result in statement.results),
    ]
    return "\n\n".join(line for line in lines if line)


def _result(nodeid: str, outcome: str, evidence: str) -> str:
    link = f" ([evidence]({evidence.replace(' ', '%20')}))" if evidence else ""
    return f"- {outcome}: `{nodeid}`{link}"


def _run(report: Report) -> str:
    run = report.run
    facts = {
        "run": run.id,
        "started": run.started,
        "duration": summary.duration(run.duration),
        "host": f"{run.host.os} {run.host.arch}, {run.host.cpus} CPUs",
        "seed": "none" if run.seed is None else str(run.seed),
        **{f"replaced {r.name}": f"{r.version}, sha256 {r.sha256}" for r in run.replacements},
        **{f"warning {number}": warning for number, warning in enumerate(run.warnings, start=1)},
    }
    lines = [f"- {name}: {_text(value)}" for name, value in facts.items()]
    programs = [
        f"| {_text(' '.join(column.column))} | {each.name} | {each.version} | {each.origin} | `{each.sha256}` |"
        for column in run.releases
        for each in column.programs
    ]
    table = (
        ["", "| column | program | version | origin | SHA-256 |", "|---|---|---|---|---|", *programs]
        if programs
        else []
    )
    return "\n".join(["## Run\n", *lines, "", "```sh", " ".join(run.command), "```", *table])


def _text(text: str) -> str:
    """One line, with what Markdown would take for markup escaped."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))
