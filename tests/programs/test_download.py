import hashlib
import io
import socket
import tarfile
import threading
from pathlib import Path

import pytest

from harness import releases
from harness.errors import InfrastructureError
from harness.programs.program import Artifact, Platform
from harness.programs.recipes import RECIPES
from harness.programs.supply import Supply
from tests.programs.conftest import Site

LINUX = Platform("linux", "amd64")
RELEASE = releases.get("1.37")
KUBECTL = "/dl.k8s.io/release/v1.37.2/bin/linux/amd64/kubectl"
CONTENT = b"#!/bin/sh\necho Kubernetes v1.37.2\n"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def left_over(root: Path) -> list[str]:
    """What lies in the cache beside lock files."""
    return [str(path) for path in root.rglob("*") if path.is_file() and path.name != "lock"]


def test_download_is_verified_installed_and_cached(site: Site, supply: Supply) -> None:
    site.files = {KUBECTL: CONTENT, f"{KUBECTL}.sha256": digest(CONTENT).encode()}
    program = supply.get_all(["kubectl"], RELEASE, LINUX)["kubectl"]
    assert (program.origin, program.version, program.sha256) == ("downloaded", "v1.37.2", digest(CONTENT))
    assert program.path.read_bytes() == CONTENT
    assert program.path.stat().st_mode & 0o111
    asked = len(site.asked)
    assert supply.get_all(["kubectl"], RELEASE, LINUX)["kubectl"] == program
    assert len(site.asked) == asked


def test_wrong_checksum_installs_nothing(site: Site, supply: Supply, tmp_path: Path) -> None:
    site.files = {KUBECTL: CONTENT, f"{KUBECTL}.sha256": digest(b"other").encode()}
    with pytest.raises(InfrastructureError, match="nothing was installed"):
        supply.get_all(["kubectl"], RELEASE, LINUX)
    assert not left_over(tmp_path / "cache")


def test_archive_with_a_list_of_sums(site: Site, supply: Supply) -> None:
    version = RELEASE.component_version("etcd")
    folder = f"/github.com/etcd-io/etcd/releases/download/{version}"
    name = f"etcd-{version}-linux-amd64"
    archive = tar({f"{name}/README.md": b"", f"{name}/etcd": CONTENT})
    sums = f"{digest(b'')}  other.zip\n{digest(archive)}  {name}.tar.gz\n".encode()
    site.files = {f"{folder}/{name}.tar.gz": archive, f"{folder}/SHA256SUMS": sums}
    assert supply.get_all(["etcd"], RELEASE, LINUX)["etcd"].path.read_bytes() == CONTENT


def test_programs_of_one_archive_are_downloaded_once(site: Site, supply: Supply) -> None:
    artifact = Artifact("containerd", RELEASE.component_version("containerd"), LINUX)
    path = "/" + RECIPES["containerd"].address(artifact).removeprefix("https://")
    archive = tar({"bin/containerd": b"one", "bin/ctr": b"two"})
    site.files = {path: archive, f"{path}.sha256sum": f"{digest(archive)}  {path.rpartition('/')[2]}\n".encode()}
    programs = supply.get_all(["containerd", "ctr"], RELEASE, LINUX)
    assert [programs[name].path.read_bytes() for name in ("containerd", "ctr")] == [b"one", b"two"]
    assert site.asked.count(path) == 1


@pytest.mark.parametrize("missing", [KUBECTL, f"{KUBECTL}.sha256"])
def test_what_the_site_lacks_is_to_be_built(site: Site, supply: Supply, tmp_path: Path, missing: str) -> None:
    site.files = {KUBECTL: CONTENT, f"{KUBECTL}.sha256": digest(CONTENT).encode()}
    del site.files[missing]
    with pytest.raises(InfrastructureError, match=r"cannot build k8s\.io/kubernetes v1\.37\.2"):
        supply.get_all(["kubectl"], RELEASE, LINUX)
    assert not left_over(tmp_path / "cache")


def test_download_that_breaks_off_installs_nothing(site: Site, supply: Supply, tmp_path: Path) -> None:
    site.files = {KUBECTL: CONTENT, f"{KUBECTL}.sha256": digest(CONTENT).encode()}
    site.announced_length = {KUBECTL: len(CONTENT) + 1}
    with pytest.raises(InfrastructureError, match="cannot build"):
        supply.get_all(["kubectl"], RELEASE, LINUX)
    assert not left_over(tmp_path / "cache")


def test_site_that_gives_no_answer_is_asked_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        calls: list[object] = []

        def hang_up() -> None:
            while True:
                try:
                    connection, caller = listener.accept()
                except OSError:
                    return
                calls.append(caller)
                connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        supply = Supply(tmp_path / "cache", f"http://127.0.0.1:{listener.getsockname()[1]}")
        for _ in range(2):
            with pytest.raises(InfrastructureError, match="cannot build"):
                supply.get_all(["kubectl"], RELEASE, LINUX)
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert len(calls) == 1


def test_some_downloaded_others_built_keeps_the_downloaded(site: Site, supply: Supply) -> None:
    site.files = {KUBECTL: CONTENT, f"{KUBECTL}.sha256": digest(CONTENT).encode()}
    with pytest.raises(InfrastructureError, match="cannot build"):
        supply.get_all(["kubectl", "kubeadm"], RELEASE, LINUX)
    site.files = {}
    assert supply.get_all(["kubectl"], RELEASE, LINUX)["kubectl"].origin == "downloaded"


def tar(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()
