"""Where the plugin keeps what belongs to a configuration or a test, in pytest's own stashes."""

from typing import Any

import pytest

from harness.plugin.controller import Controller
from harness.plugin.markers import Marks
from harness.plugin.options import Options
from harness.plugin.worker import Trace, Worker

OPTIONS = pytest.StashKey[Options]()
CONTROLLER = pytest.StashKey[Controller]()
WORKER = pytest.StashKey[Worker]()
COLLECTED = pytest.StashKey[list[dict[str, Any]]]()

MARKS = pytest.StashKey[Marks]()
TRACE = pytest.StashKey[Trace]()
#: The report of a scenario's own phase, as long as its teardown may still change the outcome.
CALL = pytest.StashKey[pytest.TestReport]()
#: Outcome and reason.
VERDICT = pytest.StashKey[tuple[str, str]]()


def is_worker(config: pytest.Config) -> bool:
    """Whether this is a process of xdist that another one has started."""
    return hasattr(config, "workerinput")
