"""The pytest plugin: options, markers, fixtures and report hooks. Nothing else in the harness knows pytest."""

import signal
from types import FrameType

import pytest

from harness.clusters import providers
from harness.errors import HarnessError, UsageError
from harness.plugin import markers, options
from harness.plugin.collection import (
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_generate_tests,
)
from harness.plugin.controller import Controller
from harness.plugin.fixtures import difference, scenario
from harness.plugin.keys import COLLECTED, CONTROLLER, OPTIONS, WORKER, is_worker
from harness.plugin.reporting import pytest_runtest_makereport, pytest_runtest_protocol

__all__ = [
    "difference",
    "pytest_addoption",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_generate_tests",
    "pytest_runtest_makereport",
    "pytest_runtest_protocol",
    "pytest_sessionfinish",
    "scenario",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    options.add(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Check the command line; a wrong one ends here, in one line, with pytest's exit code for usage."""
    for marker in markers.MARKERS:
        config.addinivalue_line("markers", marker)
    if is_worker(config):
        # A seed that was not given was chosen by the process that started the workers.
        config.option.seed = config.workerinput["dra_e2e_seed"]  # type: ignore[attr-defined]
    try:
        chosen = config.stash[OPTIONS] = options.read(config)
        if not is_worker(config) and not config.option.collectonly:
            providers.check(chosen.provider, chosen.release, chosen.wishes)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    except HarnessError as error:  # a cluster that is there, it was said, does not answer
        pytest.exit(str(error), returncode=error.exit_code)
    config.stash[COLLECTED] = []
    if not is_worker(config):
        controller = Controller(config, config.stash[OPTIONS])
        config.stash[CONTROLLER] = controller
        config.pluginmanager.register(controller, "dra-e2e-controller")
        signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    """A polite kill ends a run as Ctrl-C does: with its report, and with nothing left behind."""
    raise KeyboardInterrupt


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Wait until the scenarios of this process have left their clusters."""
    worker = session.config.stash.get(WORKER, None)
    if worker is None:
        return
    lines = [f"a scenario did not leave its cluster cleanly: {line}" for line in worker.close()]
    if is_worker(session.config):
        session.config.workeroutput["dra_e2e_trouble"] = lines  # type: ignore[attr-defined]
    else:
        session.config.stash[CONTROLLER].trouble(lines)
