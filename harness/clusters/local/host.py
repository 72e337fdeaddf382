"""What local clusters need of the host beyond its defaults."""

from pathlib import Path

_INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")

#: inotify instances that the processes of one cluster with three kubelets hold, as counted on a running one.
PER_CLUSTER = 30

#: Enough for every cluster of a run and of another one beside it.
ENOUGH = 16 * PER_CLUSTER


def prepare(limit: Path = _INSTANCES) -> list[str]:
    """Raise the host's limit of inotify instances where it is too low and we may; returns what a user should know."""
    try:
        allowed = int(limit.read_text())
    except OSError:
        return []  # no Linux, or no such limit
    if allowed >= ENOUGH:
        return []
    try:
        limit.write_text(str(ENOUGH))
    except OSError:
        return [
            f"this host allows {allowed} inotify instances per user, enough for {allowed // PER_CLUSTER} clusters at "
            f"once; more need: sudo sysctl fs.inotify.max_user_instances={ENOUGH}"
        ]
    return [f"fs.inotify.max_user_instances raised from {allowed} to {ENOUGH} until the next boot: kubelets need them"]
