"""Collection: the markers of all scenarios are read and checked before anything is started."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.clusters.profile import load
from harness.errors import HarnessError, UsageError
from harness.plugin import markers, selection
from harness.plugin.controller import COLLECTION, one_line
from harness.plugin.keys import COLLECTED, CONTROLLER, MARKS, OPTIONS, is_worker
from harness.plugin.worker import Trace
from harness.releases import Release
from harness.report import catalogue


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat scenarios for --rounds."""
    if "scenario" in metafunc.fixturenames:
        selection.repeat(metafunc, metafunc.config.stash[OPTIONS].rounds)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Read the markers of all scenarios and keep those that the user asked for."""
    scenarios = [item for item in items if "scenario" in getattr(item, "fixturenames", ())]
    if not scenarios:
        return
    statements = catalogue.load()
    try:
        for item in scenarios:
            item.stash[MARKS] = markers.read(item, statements)
        _check_profiles(scenarios, config.stash[OPTIONS].release)
    except HarnessError as error:
        if not is_worker(config):
            raise pytest.UsageError(str(error)) from None
        config.workeroutput["dra_e2e_misuse"] = str(error)  # type: ignore[attr-defined]
        items.clear()  # an exception here would be a crash to xdist; all workers find the same
        return
    if listing := config.getoption("list_marks"):
        marks = (item.stash[MARKS] for item in scenarios)
        rows = (f"{','.join(mark.statements)}\t{','.join(mark.controls)}\n" for mark in marks)
        listing.write_text("".join(rows), encoding="utf-8")
    chosen = config.stash[OPTIONS]
    release = chosen.release.programs.minor
    config.stash[COLLECTED] = [
        Trace(item.stash[MARKS]).result(item.nodeid, "deselected", "", release, swapped=False) for item in scenarios
    ]
    others = [item for item in items if item not in scenarios]
    kept = [*scenarios]
    deselected = selection.select(kept, chosen)
    items[:] = others + kept
    config.hook.pytest_deselected(items=deselected)


def _check_profiles(scenarios: Sequence[pytest.Item], release: Release) -> None:
    """Find a profile or gate that cannot be before anything is started for another one."""
    for item in scenarios:
        if wanted := item.stash[MARKS].profile:
            name, off, on = wanted
            try:
                load(name).variation(off=off, on=on).resolve(release)
            except HarnessError as error:
                raise UsageError(f"{item.nodeid}: {error}") from None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tell what there is and, in a single process, have the programs ready."""
    config = session.config
    chosen = {item.nodeid for item in session.items}
    collected = [
        {**entry, "outcome": "not run"} if entry["nodeid"] in chosen else entry for entry in config.stash[COLLECTED]
    ]
    if is_worker(config):
        # In a file, because a worker that is interrupted hands nothing over.
        given = config.workerinput  # type: ignore[attr-defined]
        fresh = Path(given["dra_e2e_run"]) / f"{COLLECTION}.{given['workerid']}"
        fresh.write_text(json.dumps(collected), encoding="utf-8")
        fresh.replace(fresh.with_name(COLLECTION))
        return
    config.stash[CONTROLLER].collected(collected)
    distributed = getattr(config.option, "dist", "no") != "no"
    if collected and chosen and not distributed and not config.option.collectonly:
        with one_line():
            config.stash[CONTROLLER].prepare()
