"""From what scenarios came to, to a report a person can read and a program can compare."""

from harness.evidence.recorder import Observation
from harness.report.coverage import Gap, uncovered
from harness.report.diff import Change, Diff, diff
from harness.report.files import home, place, read, rebuild, write
from harness.report.formats import FORMATS, export
from harness.report.merge import merge, unite
from harness.report.model import (
    Deviation,
    Host,
    Program,
    ReleaseFacts,
    Replacement,
    Report,
    Run,
    ScenarioResult,
    StatementResult,
    Verdict,
)
from harness.report.summary import headline
from harness.report.verdicts import assess, exit_code

__all__ = [
    "FORMATS",
    "Change",
    "Deviation",
    "Diff",
    "Gap",
    "Host",
    "Observation",
    "Program",
    "ReleaseFacts",
    "Replacement",
    "Report",
    "Run",
    "ScenarioResult",
    "StatementResult",
    "Verdict",
    "assess",
    "diff",
    "exit_code",
    "export",
    "headline",
    "home",
    "merge",
    "place",
    "read",
    "rebuild",
    "uncovered",
    "unite",
    "write",
]
