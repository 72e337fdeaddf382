"""What the kernel holds a Pod or a container to: control groups of version 1 or 2, as their files have it."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePosixPath

#: The files that are read, of either version.
FILES = (
    "cpu.weight",
    "cpu.max",
    "memory.max",
    "hugetlb.*.max",
    "cpu.shares",
    "cpu.cfs_quota_us",
    "cpu.cfs_period_us",
    "memory.limit_in_bytes",
    "hugetlb.*.limit_in_bytes",
)

#: Version 1 has no word for "no limit": it shows the largest multiple of a page that it can count.
_UNLIMITED_V1 = 2**62


@dataclass(frozen=True)
class ControlGroup:
    """The settings of one control group; None is "no limit".

    `weight` is its share of the CPUs in the version's own measure, `cpus` how many it may use, the rest are bytes.
    `huge_pages` goes by the size of a page as the kernel writes it (`2MB`).
    """

    version: int
    weight: int
    cpus: Decimal | None
    memory: int | None
    huge_pages: Mapping[str, int | None]


def parse(files: Mapping[str, str]) -> ControlGroup:
    """The control group whose files, by their paths, have this content; one of version 1 has several directories.

    Raises LookupError when the files are those of no control group.
    """
    found = {PurePosixPath(path).name: content.strip() for path, content in files.items()}
    if "cpu.weight" in found:
        quota, period = found["cpu.max"].split()
        return ControlGroup(
            version=2,
            weight=int(found["cpu.weight"]),
            cpus=None if quota == "max" else Decimal(quota) / Decimal(period),
            memory=_limit(found["memory.max"]),
            huge_pages=_huge_pages(found, ".max"),
        )
    if "cpu.shares" in found:
        microseconds = int(found["cpu.cfs_quota_us"])
        return ControlGroup(
            version=1,
            weight=int(found["cpu.shares"]),
            cpus=None if microseconds < 0 else Decimal(microseconds) / Decimal(found["cpu.cfs_period_us"]),
            memory=_limit(found["memory.limit_in_bytes"]),
            huge_pages=_huge_pages(found, ".limit_in_bytes"),
        )
    raise LookupError(f"no control group: {', '.join(sorted(files)) or 'no files'}")


def weights(cpus: Decimal, version: int) -> frozenset[int]:
    """The weights by which a request for so many CPUs can stand in a control group.

    Kubernetes asks for shares, 1024 for a CPU and at least 2. For version 2 the runtime converts them: in a straight
    line, or since runc 1.3.2 and crun 1.23 along a curve that gives one CPU the default weight of 100.
    """
    shares = max(2, math.floor(cpus * 1024))
    if version == 1:
        return frozenset({shares})
    straight = 1 + (shares - 2) * 9999 // 262142
    power = math.log2(shares)
    return frozenset({straight, math.ceil(10 ** ((power * power + 125 * power) / 612 - 7 / 34))})


def directories(uid: str, container_id: str | None = None) -> Iterable[str]:
    """Patterns for the name of a Pod's directory, or of a container's: the drivers systemd and cgroupfs differ."""
    if container_id is None:
        return (f"pod{uid}", f"*-pod{uid.replace('-', '_')}.slice")
    return (container_id, f"*-{container_id}.scope")


def _limit(text: str) -> int | None:
    return None if text == "max" or int(text) >= _UNLIMITED_V1 else int(text)


def _huge_pages(files: Mapping[str, str], ending: str) -> Mapping[str, int | None]:
    named = {name.removeprefix("hugetlb.").removesuffix(ending): text for name, text in files.items()
             if name.startswith("hugetlb.") and name.endswith(ending) and ".rsvd" not in name}  # fmt: skip
    return {size: _limit(text) for size, text in named.items()}
