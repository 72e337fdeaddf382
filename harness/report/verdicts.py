"""From what scenarios came to, to verdicts on statements. Pure functions; the rules are the design's.

Of several scenarios and controls the worst wins. A skip is never a pass. A statement whose control is missing, or
comes out no different, is unproved whatever its scenario says.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from harness.report.catalogue import Catalogue, Statement
from harness.report.model import ScenarioResult, StatementResult, Verdict

_ORDER = list(Verdict)
_SHOWN = frozenset({Verdict.HOLDS, Verdict.DEVIATES})
_SKIPS = {"need": Verdict.NOT_OBSERVABLE, "release": Verdict.NOT_IN_RELEASE}


@dataclass(frozen=True)
class _Vote:
    verdict: Verdict
    reason: str = ""


def assess(
    catalogue: Catalogue,
    results: Sequence[ScenarioResult],
    *,
    release: str,
    provider: str,
    selected: Collection[str] | None = None,
) -> tuple[StatementResult, ...]:
    """One verdict per statement of the catalogue.

    `results` has every collected scenario, also the deselected ones and those that did not run; `selected` are the
    ids that the user asked for (None: all).
    """
    verdicts = []
    for statement in catalogue.values():
        scenarios = tuple(r for r in results if statement.id in r.statements)
        controls = tuple(r for r in results if statement.id in r.controls)
        if selected is None or statement.id in selected:
            vote = _verdict(statement.id, scenarios, controls)
        else:
            vote, scenarios, controls = _Vote(Verdict.NOT_SELECTED), (), ()
        verdicts.append(_result(statement, vote, scenarios, controls, release, provider))
    return tuple(verdicts)


def _result(
    statement: Statement,
    vote: _Vote,
    scenarios: tuple[ScenarioResult, ...],
    controls: tuple[ScenarioResult, ...],
    release: str,
    provider: str,
) -> StatementResult:
    return StatementResult(
        id=statement.id,
        release=release,
        provider=provider,
        verdict=vote.verdict,
        reason=vote.reason,
        source=statement.source,
        lines=statement.lines,
        statement=statement.statement,
        negative=statement.negative,
        caveat=statement.caveat,
        scenarios=scenarios,
        controls=controls,
    )


def _verdict(identifier: str, scenarios: Sequence[ScenarioResult], controls: Sequence[ScenarioResult]) -> _Vote:
    if not scenarios:
        return _Vote(Verdict.NO_SCENARIO)
    votes = [_scenario_vote(identifier, r) for r in scenarios if r.outcome != "deselected"]
    if not votes:
        return _Vote(Verdict.NOT_SELECTED)
    if not any(r.swapped for r in scenarios):
        votes += _control_votes(controls, needed=any(vote.verdict in _SHOWN for vote in votes))
    return min(votes, key=lambda vote: _ORDER.index(vote.verdict))


def _scenario_vote(identifier: str, result: ScenarioResult) -> _Vote:
    if result.swapped and result.outcome == "failed":
        return _Vote(Verdict.UNPROVED, f"{_name(result)} {result.reason}")
    if result.outcome != "passed":
        return _vote(result)
    why = next((deviation.why for deviation in result.deviates if deviation.statement == identifier), None)
    return _Vote(Verdict.HOLDS) if why is None else _Vote(Verdict.DEVIATES, why)


def _control_votes(controls: Sequence[ScenarioResult], *, needed: bool) -> list[_Vote]:
    """What the controls say; where no scenario shows the statement (not `needed`), only trouble counts."""
    tried = [result for result in controls if result.outcome != "deselected"]
    votes = [_Vote(Verdict.HOLDS) if result.outcome == "passed" else _vote(result) for result in tried]
    if not needed:
        return [vote for vote in votes if vote.verdict in {Verdict.BROKEN, Verdict.ERROR}]
    if not controls:
        return [_Vote(Verdict.UNPROVED, "it has no control")]
    if not tried:
        return [_Vote(Verdict.UNPROVED, "its control was not selected in this run")]
    if all(vote.verdict is Verdict.NOT_IN_RELEASE for vote in votes):
        return [_Vote(Verdict.UNPROVED, f"its control does not run on this release: {votes[0].reason}")]
    return votes


def _vote(result: ScenarioResult) -> _Vote:
    """What a scenario or control that did not pass says."""
    role = "" if result.statements else "control "
    match result.outcome:
        case "failed":
            return _Vote(Verdict.BROKEN, f"{role}{_name(result)}: {_first_line(result.reason)}")
        case "skipped" if result.skip:
            return _Vote(_SKIPS[result.skip], result.reason)
        case "skipped":
            return _Vote(
                Verdict.ERROR, f"{role}{_name(result)} was skipped for no accepted reason: {_first_line(result.reason)}"
            )
        case "not run":
            return _Vote(Verdict.ERROR, f"{role}{_name(result)} did not run: {result.reason or 'the run ended early'}")
        case _:
            return _Vote(Verdict.ERROR, f"{role}{_name(result)}: {_first_line(result.reason)}")


def _first_line(text: str) -> str:
    """The whole text stays with the scenario."""
    return text.partition("\n")[0]


def _name(result: ScenarioResult) -> str:
    return result.nodeid.rsplit("::", maxsplit=1)[-1]


def exit_code(statements: Iterable[StatementResult]) -> int:
    """0: nothing speaks against the cluster; 1: a statement is broken or unproved; 3: something could not be tried.

    A statement is not held against a run whose user left its control out on purpose.
    """
    verdicts = {statement.verdict for statement in statements if not _control_left_out(statement)}
    if verdicts & {Verdict.BROKEN, Verdict.UNPROVED}:
        return 1
    return 3 if Verdict.ERROR in verdicts else 0


def _control_left_out(statement: StatementResult) -> bool:
    if statement.verdict is not Verdict.UNPROVED or any(r.swapped for r in statement.scenarios):
        return False  # under --controls the scenario itself is the control, and no other is selected
    return any(r.outcome == "deselected" for r in statement.controls)
