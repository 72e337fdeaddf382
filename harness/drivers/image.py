"""The image of the driver's Pods: a Python, four packages, and fake_driver."""

import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import docker
from docker.errors import APIError, BuildError, DockerException, ImageNotFound
from filelock import FileLock

import fake_driver
from harness.clusters.run import base_directory
from harness.errors import InfrastructureError, UsageError

#: As fake_driver/deploy names it.
REFERENCE = "dra-e2e.local/fake-driver:1"

#: The base where a registry answers; the packages are for its Python.
_BASE = "python:3.11-slim-bookworm"
_PYTHON = "3.11"

#: The base where none does: no more of Debian than its Python needs, and nothing of it is run while it is made.
_SUITE = "bookworm"
_PACKAGES = ("python3.11-minimal", "libpython3.11-stdlib", "libstdc++6")
_OWN_BASE = f"dra-e2e.local/python:3.11-{_SUITE}-{hashlib.sha256(' '.join(_PACKAGES).encode()).hexdigest()[:8]}"

_CONTENT = "dra-e2e/content"
_SOURCE = Path(fake_driver.__file__).resolve().parent
_DEPLOY = _SOURCE / "deploy"

Tell = Callable[[str], None]


def choose(engine: docker.DockerClient, reference: str | None, tell: Tell = lambda _: None) -> str:
    """The user's image, or without one that of `ensure`. Raises UsageError when the engine does not have it."""
    if reference is None:
        return ensure(engine, tell)
    if not _has_any(engine, reference):
        raise UsageError(f"the Docker engine has no image {reference}: pull, load or build it first")
    return reference


def ensure(engine: docker.DockerClient, tell: Tell = lambda _: None) -> str:
    """The reference of the image, which the engine has afterwards; built when anything in it has changed.

    Raises UsageError where neither a registry answers nor mmdebstrap is installed, InfrastructureError when a step
    fails.
    """
    content = _digest()
    try:
        with FileLock(base_directory() / "driver-image.lock"):
            if not _has(engine, REFERENCE, content):
                _build(engine, _base(engine, tell), content, tell)
    except DockerException as error:
        raise InfrastructureError(f"the driver's image cannot be built: {' '.join(str(error).split())}") from error
    return REFERENCE


def size(engine: docker.DockerClient) -> int:
    """How many bytes the image has."""
    return int(engine.images.get(REFERENCE).attrs["Size"])


def _has(engine: docker.DockerClient, reference: str, content: str) -> bool:
    try:
        return bool(engine.images.get(reference).labels.get(_CONTENT) == content)
    except ImageNotFound:
        return False


def _files() -> Iterator[tuple[str, Path]]:
    """What is copied of fake_driver, in a fixed order."""
    for path in sorted(_SOURCE.rglob("*")):
        inside = path.relative_to(_SOURCE)
        if path.suffix in (".py", ".txt") or path.name == "Dockerfile":
            yield str(inside), path


def _digest() -> str:
    digest = hashlib.sha256(f"{_BASE} {_OWN_BASE}".encode())
    for name, path in _files():
        digest.update(f"\0{name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _build(engine: docker.DockerClient, base: str, content: str, tell: Tell) -> None:
    tell(f"image {REFERENCE} on {base}")
    with tempfile.TemporaryDirectory(prefix="dra-e2e-image-") as scratch:
        packages = Path(scratch) / "site-packages"
        _install(engine, base, packages)
        context = _context(packages)
    before = {image.id for image in engine.images.list(REFERENCE)}
    try:
        made, _ = engine.images.build(
            fileobj=context,
            custom_context=True,
            tag=REFERENCE,
            buildargs={"BASE": base},
            labels={_CONTENT: content},
            rm=True,
            forcerm=True,
        )
    except BuildError as error:
        raise InfrastructureError(f"the driver's image cannot be built: {error.msg}") from error
    for old in before - {made.id}:
        # Without its name nobody would find it again.
        with suppress(APIError):
            engine.images.remove(str(old))


def _install(engine: docker.DockerClient, base: str, target: Path) -> None:
    """Have the pinned packages of the image's Python and machine, whatever runs here."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}[engine.images.get(base).attrs["Architecture"]]
    platforms = (f"manylinux2014_{machine}", f"manylinux_2_28_{machine}", "any")
    abis = (f"cp{_PYTHON.replace('.', '')}", "abi3", "none")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    command += ["--no-deps", "--only-binary=:all:", "--implementation=cp", f"--python-version={_PYTHON}"]
    command += [*(f"--abi={abi}" for abi in abis), *(f"--platform={platform}" for platform in platforms)]
    command += ["--require-hashes", f"--requirement={_DEPLOY / 'requirements.txt'}", f"--target={target}"]
    _run(command, "the driver's packages cannot be installed")


def _context(packages: Path) -> io.BytesIO:
    """What the Dockerfile copies, as a tar file."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        tar.add(_DEPLOY / "Dockerfile", "Dockerfile")
        for name, path in _files():
            if path.suffix == ".py":
                tar.add(path, f"fake_driver/{name}")
        tar.add(packages, "site-packages", filter=_needed)
    file.seek(0)
    return file


def _needed(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    entry.uid = entry.gid = 0
    return None if entry.name.endswith((".pyi", ".dist-info", "/bin", "__pycache__")) else entry


def _base(engine: docker.DockerClient, tell: Tell) -> str:
    """The base to build on: what the engine has, else the registry's, else one of our own."""
    for reference in (_BASE, _OWN_BASE):
        if _has_any(engine, reference):
            return reference
    try:
        tell(f"pulling {_BASE}")
        engine.images.pull(_BASE)
    except APIError:
        tell(f"no registry has {_BASE}: a base of Debian's packages takes a minute, once")
        _make_base(engine)
        return _OWN_BASE
    return _BASE


def _has_any(engine: docker.DockerClient, reference: str) -> bool:
    try:
        engine.images.get(reference)
    except ImageNotFound:
        return False
    return True


def _make_base(engine: docker.DockerClient) -> None:
    if shutil.which("mmdebstrap") is None:
        raise UsageError(
            f"the driver's image needs {_BASE} from a registry, or mmdebstrap to make a base of Debian's packages "
            "(apt install mmdebstrap), or name an image with --driver-image"
        )
    with tempfile.TemporaryDirectory(prefix="dra-e2e-image-") as scratch:
        tar = Path(scratch) / "base.tar"
        command = ["mmdebstrap", "--quiet", "--variant=extract", f"--include={','.join(_PACKAGES)}"]
        excluded = ("/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/man/*", "/usr/lib/python3.11/test/*")
        command += [f"--dpkgopt=path-exclude={path}" for path in excluded]
        _run([*command, _SUITE, str(tar)], "the driver's base cannot be made of Debian's packages")
        repository, _, tag = _OWN_BASE.partition(":")
        engine.api.import_image_from_file(str(tar), repository=repository, tag=tag)


def _run(command: list[str], trouble: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise InfrastructureError(f"{trouble}: {lines[-1] if lines else f'exit code {done.returncode}'}")
