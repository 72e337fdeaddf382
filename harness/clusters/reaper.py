"""Removes what runs leave behind: at their end, or later when their owner was killed."""

import contextlib
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence

import psutil

from harness.clusters.existing import remains
from harness.clusters.kind import objects
from harness.clusters.run import LABEL, Run, base_directory, registry_lock
from harness.clusters.uninterrupted import uninterrupted
from harness.errors import InfrastructureError, UsageError

#: Removes what one provider started for a run outside of the run's directory. Idempotent.
ProviderReaper = Callable[[Run], None]

_RUN_ID = re.compile(r"[0-9a-f]{6}")
_GRACE = 10.0  # seconds in which the kernel must have ended killed processes
_LOOK = 0.05  # seconds between two looks at what is still there


def kill_processes(run: Run) -> None:
    """Kill every process that carries the run's label, again until none is left: they may be starting others."""
    deadline = time.monotonic() + _GRACE
    while victims := _labelled(run.id):
        if time.monotonic() > deadline:
            raise InfrastructureError(f"processes of run {run.id} survive SIGKILL: {[each.pid for each in victims]}")
        for victim in victims:
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.send_signal(signal.SIGKILL)
        psutil.wait_procs(victims, timeout=_LOOK)  # not longer: a zombie that init has not reaped yet does not count


#: Every provider's reaper, in the order in which they are called.
PROVIDER_REAPERS: Sequence[ProviderReaper] = (kill_processes, objects.remove_run, remains.remove_run)


def remove(run: Run) -> None:
    """Remove everything of a run, kept or not, and give up its lock. Below two seconds for local clusters.

    SIGINT and SIGTERM do not cut it short.
    """
    with uninterrupted(f"still removing what run {run.id} has"):
        for reap_provider in PROVIDER_REAPERS:
            reap_provider(run)
        shutil.rmtree(run.directory, ignore_errors=True)
        if run.directory.exists():  # a dying process may have written one more file
            shutil.rmtree(run.directory)
        run.release()


def reap(*, kept: bool = False) -> list[str]:
    """Remove every dead run of this user, kept ones only when asked; returns their ids."""
    with registry_lock():
        dead = [run for run in _runs_of_user() if not run.is_alive() and (kept or not run.kept)]
        removed = [run.id for run in dead if _remove_dead(run)]
        orphans = objects.remove_orphans()
    return [*removed, *orphans]


def _remove_dead(run: Run) -> bool:
    """Whether it is gone. What cannot be reached now, as somebody's cluster, is told, and holds up nobody."""
    try:
        remove(run)
    except remains.LeftBehindError as error:
        print(f"dra-e2e: {error}", file=sys.stderr)
        return False
    return True


def remove_kept(run_id: str | None = None) -> list[str]:
    """Remove the kept runs of this user, or only the one of that id; returns their ids.

    Raises UsageError when there is none of that id, or its owner still works with it.
    """
    with registry_lock():
        kept = [run for run in _runs_of_user() if run.kept and run_id in (None, run.id)]
        chosen = [run for run in kept if not run.is_alive()]
        if run_id is not None and not chosen:
            state = "is still in use: end its tests first" if kept else "is no kept run of yours"
            raise UsageError(f"{run_id} {state}")
        for run in chosen:
            remove(run)
    return [run.id for run in chosen]


def _runs_of_user() -> list[Run]:
    return [
        Run(path)
        for path in sorted(base_directory().iterdir())
        if _RUN_ID.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
    ]


def _labelled(run_id: str) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if _carries(process, run_id)]


def _carries(process: psutil.Process, run_id: str) -> bool:
    try:
        return process.pid != os.getpid() and process.environ().get(LABEL) == run_id and _runs(process)
    except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
        return False  # not ours


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
