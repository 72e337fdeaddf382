"""Filling a disk leaves nothing free, and gives all of it back. The disk is a real one, where root may mount it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_FILL = """
import sys
from pathlib import Path
from harness.faults.disks import fill, small_disks

with small_disks(Path(sys.argv[1])) as disks:
    if disks is None:
        sys.exit(77)
    (disks.etcd / "before").write_bytes(b"x")
    free = fill(disks.etcd)
    try:
        (disks.etcd / "more").write_bytes(b"x" * 4096)
    except OSError as error:
        print(error.strerror)
    (disks.harness / "other").write_bytes(b"x" * 4096)
    free()
    (disks.etcd / "more").write_bytes(b"x" * 4096)
    print("free")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_disk_is_full_and_free_again_and_nobody_else_sees_it(tmp_path: Path) -> None:
    # A process of its own: the namespace is the process's for good.
    done = subprocess.run([sys.executable, "-c", _FILL, str(tmp_path)], check=False, capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("this host does not let root have mount namespaces")
    assert done.stdout.split("\n") == ["No space left on device", "free", ""], done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()
