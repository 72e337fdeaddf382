"""Capabilities that this host withholds from everybody, and a container runtime that does not ask for them.

`docker run --privileged` asks for every capability the kernel knows. Where one is missing from the bounding set of
dockerd itself (as in some virtual machines and containers), runc fails: "unable to apply caps: operation not
permitted". The runtime installed here drops those from what it is asked for, then becomes runc.
"""

import os
import shutil
import sys
from pathlib import Path

from harness.clusters.kind import trimming_runtime
from harness.errors import UsageError

#: The name by which dockerd knows the wrapper.
RUNTIME = "dra-e2e-trim"

_STATUS = Path("/proc/self/status")
_LAST = Path("/proc/sys/kernel/cap_last_cap")


def missing(status: Path = _STATUS, last: Path = _LAST) -> tuple[str, ...]:
    """The capabilities that the kernel knows and nobody here can have; none where there is no Linux."""
    try:
        count = int(last.read_text()) + 1
        held = trimming_runtime.bounding_set(status.read_text())
    except OSError:
        return ()
    return tuple(
        trimming_runtime.NAMES[bit] for bit in range(min(count, len(trimming_runtime.NAMES))) if not held >> bit & 1
    )


def install(folder: Path) -> Path:
    """Write the runtime's executable. Raises UsageError where there is no runc."""
    runc = shutil.which("runc", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if runc is None:
        raise UsageError("there is no runc: install it (Debian: apt install runc)")
    source = Path(trimming_runtime.__file__).read_text("utf-8")
    path = folder / "trimming-runtime"
    # Isolated and without site-packages: it runs at every start of a container and every exec.
    path.write_text(f"#!{Path(sys.executable).resolve()} -IS\n{source}\nmain({runc!r})\n", "utf-8")
    path.chmod(0o755)
    return path
