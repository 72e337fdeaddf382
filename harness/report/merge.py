"""One report of several: other releases, other providers, or shards of one run."""

import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from harness import releases
from harness.errors import InfrastructureError, UsageError
from harness.report import files
from harness.report.model import ReleaseFacts, Report, Run, ScenarioResult, StatementResult, Verdict

_WORST_FIRST = tuple(Verdict)
#: Between the runs in the ID of a merged report.
_AND = "+"


def merge(directories: Sequence[Path], target: Path) -> Report:
    """Read the reports in the directories and write one in `target`, with the evidence of all of them.

    Raises UsageError where there is no report, where a run comes twice, or where runs of statements and of controls are
    mixed, and InfrastructureError where the evidence cannot be copied.
    """
    if not directories:
        raise UsageError("nothing to merge: name the directories of the reports")
    reports = [files.read(directory) for directory in directories]
    merged = unite([_moved(report, _place(report)) for report in reports])
    for directory, report in zip(directories, reports, strict=True):
        _copy_evidence(report, files.home(directory), target / _place(report))
    files.write(merged, target)
    return merged


def unite(reports: Sequence[Report]) -> Report:
    """All columns side by side, newest release first.

    Where several reports have the same column, the worst verdict on a statement counts among those that say something
    about the cluster: a shard that was not asked for a statement has no say. Raises UsageError for mixed modes, and for
    a run that comes twice, on its own or in a report that is merged itself: its scenarios would count twice.
    """
    runs = Counter(run for report in reports for run in report.run.id.split(_AND))
    if twice := [run for run, times in runs.items() if times > 1]:
        raise UsageError(f"run {twice[0]} is in more than one of the reports: name each run once")
    if len({report.run.mode for report in reports}) > 1:
        raise UsageError("a run of controls and a run of statements cannot be merged: they ask opposite questions")
    return Report(_run([report.run for report in reports]), tuple(_statements(reports)))


def _run(runs: Sequence[Run]) -> Run:
    first = min(runs, key=lambda run: run.started)
    columns: dict[tuple[str, str], ReleaseFacts] = {}
    for run in runs:
        for facts in run.releases:
            columns.setdefault(facts.column, facts)
    hosts = {run.host for run in runs}
    return replace(
        first,
        id=_AND.join(run.id for run in runs),
        duration=sum(run.duration for run in runs),
        releases=tuple(sorted(columns.values(), key=lambda facts: _order(*facts.column))),
        command=tuple(_joined(run.command for run in runs)),
        seed=first.seed if len({run.seed for run in runs}) == 1 else None,
        interrupted=any(run.interrupted for run in runs),
        replacements=tuple(dict.fromkeys(item for run in runs for item in run.replacements)),
        warnings=tuple(dict.fromkeys(_warnings(runs, several_hosts=len(hosts) > 1))),
    )


def _joined(commands: Iterable[tuple[str, ...]]) -> Iterable[str]:
    for number, command in enumerate(dict.fromkeys(commands)):
        yield from ("&", *command) if number else command


def _warnings(runs: Sequence[Run], *, several_hosts: bool) -> Iterable[str]:
    if len({tuple(sorted(run.packages.items())) for run in runs}) > 1:
        yield "the runs had different Python packages: the report of each has its own"
    for run in runs:
        where = ", ".join(f"{facts.release} {facts.provider}" for facts in run.releases) or f"run {run.id}"
        if several_hosts:
            yield f"{where}: ran on {run.host.os} {run.host.arch} with {run.host.cpus} CPUs"
        yield from (f"{where}: {warning}" for warning in run.warnings)


def _statements(reports: Sequence[Report]) -> Iterable[StatementResult]:
    found: dict[tuple[str, str, str], StatementResult] = {}
    for report in reports:
        for new in report.statements:
            key = (new.id, new.release, new.provider)
            found[key] = _worse(found[key], new) if key in found else new
    catalogue = {identifier: number for number, (identifier, *_) in enumerate(found)}
    return sorted(found.values(), key=lambda s: (*_order(s.release, s.provider), catalogue[s.id]))


def _worse(one: StatementResult, other: StatementResult) -> StatementResult:
    kept, added = sorted((one, other), key=lambda statement: _WORST_FIRST.index(statement.verdict))
    if added.verdict in {Verdict.NOT_SELECTED, Verdict.NO_SCENARIO, Verdict.NOT_IN_RELEASE}:
        return kept
    return replace(kept, scenarios=kept.scenarios + added.scenarios, controls=kept.controls + added.controls)


def _order(release: str, provider: str) -> tuple[int, str, str]:
    """Newest release first, its own programs before those that emulate it; one that is not known here comes last."""
    known = releases.supported()
    try:
        place = known.index(releases.get(release).minor)
    except UsageError:
        place = len(known)
    return place, release, provider


def _place(report: Report) -> str:
    """Where the evidence of a run lies in the merged report."""
    return f"runs/{report.run.id.replace('/', '-')}"


def _moved(report: Report, place: str) -> Report:
    def moved(results: tuple[ScenarioResult, ...]) -> tuple[ScenarioResult, ...]:
        return tuple(replace(r, evidence=f"{place}/{r.evidence}" if r.evidence else "") for r in results)

    statements = (replace(s, scenarios=moved(s.scenarios), controls=moved(s.controls)) for s in report.statements)
    return replace(report, statements=tuple(statements))


def _copy_evidence(report: Report, directory: Path, target: Path) -> None:
    """Only what the report names: the run's directory may hold keys."""
    try:
        for result in report.scenarios().values():
            if result.evidence and (directory / result.evidence).is_dir():
                shutil.copytree(directory / result.evidence, target / result.evidence, dirs_exist_ok=True)
    except OSError as error:
        raise InfrastructureError(f"the evidence of {directory} cannot be copied: {error}") from error
