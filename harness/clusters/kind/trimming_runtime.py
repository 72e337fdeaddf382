"""An OCI runtime: drops the capabilities that this host withholds from what it is asked for, then becomes runc.

It is copied to a file of its own and run without the harness: it may import nothing but the standard library.
"""

import json
import os
import sys
from typing import Any

_WORDS = (
    "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE "
    "NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT "
    "SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL "
    "SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE"
)
#: By number, as in linux/capability.h.
NAMES = tuple(f"CAP_{word}" for word in _WORDS.split())


def bounding_set(status: str) -> int:
    """The bounding set told by a /proc/PID/status."""
    return next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapBnd:"))


def trim(process: dict[str, Any], held: int) -> None:
    """Drop from an OCI process what is not held."""
    capabilities = process.get("capabilities")
    if isinstance(capabilities, dict):
        allowed = {name for bit, name in enumerate(NAMES) if held >> bit & 1}
        for kind, names in capabilities.items():
            capabilities[kind] = [name for name in names or () if name in allowed]


def main(runc: str) -> None:
    """Trim the file that this call of the runtime reads, if any, and become runc."""
    arguments = sys.argv[1:]
    found = _file(arguments)
    if found:
        path, is_bundle = found
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        with open("/proc/self/status", encoding="utf-8") as file:
            held = bounding_set(file.read())
        trim(document.get("process", {}) if is_bundle else document, held)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
    os.execv(runc, [runc, *arguments])  # noqa: S606 (becoming runc is the point)


def _file(arguments: list[str]) -> tuple[str, bool] | None:
    """The file with the process to start, and whether it is a bundle's configuration."""
    if "create" in arguments or "run" in arguments:
        return os.path.join(_option(arguments, ("--bundle", "-b")) or ".", "config.json"), True
    if "exec" in arguments:
        path = _option(arguments, ("--process", "-p"))
        return (path, False) if path else None
    return None


def _option(arguments: list[str], names: tuple[str, ...]) -> str | None:
    for position, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in names:
            return value if equals else arguments[position + 1]
    return None
