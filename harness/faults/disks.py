"""Small disks that can be filled to the last byte without harm to anybody else."""

import contextlib
import ctypes
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InfrastructureError

#: In MiB, of which only what is written is taken from memory. Etcd lays out two files of 64 MiB in advance.
_SIZES = {"harness": 1024, "etcd": 384}

_CLONE_NEWNS = 0x00020000
_BLOCKS = (16 << 20, 1 << 20, 1 << 16, 1 << 12)


@dataclass(frozen=True)
class Disks:
    """Where a cluster keeps what is etcd's, and everything else; each is a disk of its own."""

    etcd: Path
    harness: Path


@contextmanager
def small_disks(directory: Path) -> Iterator[Disks | None]:
    """Two small disks below an existing directory; None where this user may not have any.

    They are in a mount namespace of this process and of what it starts from now on: nobody else sees them, and they
    vanish with the last of them, however that ends. Call it before there are threads: those keep the old namespace.
    Raises InfrastructureError when they cannot be mounted.
    """
    if os.geteuid() != 0 or not _own_namespace():
        yield None
        return
    disks = Disks(directory / "e", directory / "d")
    try:
        _mount("--make-rprivate", "/")
        for path, size in ((disks.etcd, _SIZES["etcd"]), (disks.harness, _SIZES["harness"])):
            path.mkdir(mode=0o700)
            _mount("-t", "tmpfs", "-o", f"size={size}m,mode=0700", "dra-e2e", str(path))
        yield disks
    finally:
        for path in (disks.etcd, disks.harness):
            subprocess.run(["umount", "--lazy", str(path)], check=False, capture_output=True)


def fill(disk: Path) -> Callable[[], None]:
    """Leave no byte free on a disk; returns what gives all back. Raises InfrastructureError when there is room left."""
    filler = disk / "filler"
    with filler.open("wb") as file:
        end = 0
        for block in _BLOCKS:
            with contextlib.suppress(OSError):
                while True:
                    os.posix_fallocate(file.fileno(), end, block)
                    end += block
    if os.statvfs(disk).f_bavail:
        raise InfrastructureError(f"{disk} has room left after it was filled")
    return lambda: filler.unlink(missing_ok=True)


def _own_namespace() -> bool:
    """Whether this process now has a mount namespace of its own."""
    return int(ctypes.CDLL(None).unshare(_CLONE_NEWNS)) == 0


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], check=False, capture_output=True, text=True)
    if done.returncode:
        raise InfrastructureError(f"mount {' '.join(arguments)}: {done.stderr.strip()}")
