"""The cells of a matrix: which, how many at once, and running them as runs of pytest."""

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import psutil

from harness import releases
from harness.errors import InfrastructureError, UsageError

#: A run with four workers keeps two cores busy and holds up to four clusters.
_CORES_PER_CELL = 2
_BYTES_PER_CELL = 8 * 2**30
#: Seconds between two lines of progress of a cell.
_TELL_EVERY = 20.0
_PERCENT = re.compile(r"\[ *(\d+)%\]")

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Cell:
    """One release on one provider."""

    release: str
    """The name of it (harness.releases.Release.name)."""
    provider: str

    @property
    def arguments(self) -> tuple[str, ...]:
        """What pytest is told."""
        release = releases.get(self.release)
        emulated = (f"--emulate={release.minor}",) if release.emulated_by else ()
        return (f"--provider={self.provider}", f"--k8s={release.programs.minor}", *emulated)

    def __str__(self) -> str:
        return f"{self.release.replace(' ', '-')}-{self.provider}"


@dataclass(frozen=True)
class Done:
    """What a cell came to: pytest's exit code, the directory of its report (None: it wrote none) and its output."""

    cell: Cell
    code: int
    report: Path | None
    log: Path


def cells(
    minors: Iterable[str], providers: Iterable[str], known_providers: Collection[str], emulated: Iterable[str] = ()
) -> tuple[Cell, ...]:
    """Every combination of releases, and of `emulated` ones, with providers, newest release first.

    Raises UsageError for a release or provider that is not there, and where no provider is named.
    """
    wanted = [releases.get(minor).minor for minor in minors] or list(releases.supported())
    played = [releases.emulate(minor).name for minor in emulated]
    asked = list(dict.fromkeys(providers))
    if not asked:
        raise UsageError(f"no provider: choose from {', '.join(known_providers)}")
    if unknown := [name for name in asked if name not in known_providers]:
        raise UsageError(f"unknown provider {unknown[0]!r}: choose from {', '.join(known_providers)}")
    ordered = sorted(dict.fromkeys(wanted), key=releases.supported().index)
    return tuple(Cell(release, provider) for release, provider in product([*ordered, *played], asked))


def at_once() -> int:
    """How many cells this machine bears at the same time."""
    cores = os.cpu_count() or 1
    memory: int = psutil.virtual_memory().total
    return max(1, min(cores // _CORES_PER_CELL, memory // _BYTES_PER_CELL))


def run(wanted: Sequence[Cell], directory: Path, arguments: Sequence[str], number: int, tell: Tell) -> list[Done]:
    """Run the cells, at most `number` at the same time; one that fails does not stop the others.

    Each has `<directory>/cells/<cell>/` for its output and its report. Raises InfrastructureError when pytest cannot
    be started; on KeyboardInterrupt the cells that run are interrupted, too, and have cleaned up when it is raised.
    """
    children: dict[Cell, subprocess.Popen[bytes]] = {}
    with ThreadPoolExecutor(max_workers=number) as executor:
        pending = {executor.submit(_run, cell, directory, arguments, children, tell) for cell in wanted}
        done: list[Done] = []
        try:
            while pending:
                ended, pending = wait(pending, return_when=FIRST_COMPLETED)
                done += [future.result() for future in ended]
        except KeyboardInterrupt:
            _interrupt(pending, children)
            raise
    return sorted(done, key=lambda one: wanted.index(one.cell))


def exit_code(done: Iterable[Done]) -> int:
    """1: a statement is broken somewhere; 3: something could not be tried; 4: a wrong option; 0: all is well."""
    codes = {one.code if one.report else one.code or InfrastructureError.exit_code for one in done}
    for code in (1, InfrastructureError.exit_code, UsageError.exit_code):
        if code in codes:
            return code
    return max(codes, default=0)


def _run(
    cell: Cell,
    directory: Path,
    arguments: Sequence[str],
    children: dict[Cell, subprocess.Popen[bytes]],
    tell: Tell,
) -> Done:
    place = directory / "cells" / str(cell)
    log = place / "output.txt"
    command = [sys.executable, "-m", "pytest", "scenarios", *cell.arguments]
    try:
        place.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            child = children[cell] = subprocess.Popen(
                [*command, f"--reports={place}", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C reaches it through us, once
            )
    except OSError as error:
        raise InfrastructureError(f"cell {cell} cannot be started: {error}") from error
    tell(f"{cell}: started, output in {log}")
    code = _watch(cell, child, log, tell)
    reports = sorted(place.glob("*/report.json"))
    tell(f"{cell}: ended with {code}" + ("" if reports else f" and no report: {_last_line(log)}"))
    return Done(cell, code, reports[-1].parent if reports else None, log)


def _watch(cell: Cell, child: subprocess.Popen[bytes], log: Path, tell: Tell) -> int:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.wait(timeout=_TELL_EVERY)
        seen = _PERCENT.findall(log.read_text(encoding="utf-8", errors="replace"))
        tell(f"{cell}: {seen[-1]} %" if seen else f"{cell}: {_last_line(log)}")


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no output yet")


def _interrupt(pending: set[Future[Done]], children: dict[Cell, subprocess.Popen[bytes]]) -> None:
    for future in pending:
        future.cancel()
    for child in children.values():
        child.terminate()  # a cell of a matrix that was started in the background ignores SIGINT
    deadline = time.monotonic() + 60
    for child in children.values():
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=max(0.1, deadline - time.monotonic()))
