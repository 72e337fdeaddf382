"""Images of our own Python: the driver's Pods (fake_driver and four packages), and the whole suite in a Pod."""

import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
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
_ROOT = _SOURCE.parent

#: What is no source: caches, and pages of templates are.
_NOT_COPIED = frozenset({"__pycache__", ".pyc", ".pyi"})

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Image:
    """What is in an image beside Python, and how it is called."""

    reference: str
    what: str
    """In words, for messages."""
    deploy: Path
    """The folder of its Dockerfile and of its requirements.txt, with hashes."""
    sources: tuple[str, ...]
    """Files and folders of the project that it has."""
    plugins: bool = False
    """Whether its packages find each other by their metadata."""


DRIVER = Image(REFERENCE, "the driver's", _SOURCE / "deploy", ("fake_driver",))

#: The suite, for a Pod that runs it in an existing cluster. It is made from a checkout only.
SUITE = Image(
    "dra-e2e.local/suite:1",
    "the suite's",
    _ROOT / "deploy",
    ("harness", "fake_driver", "scenarios", "kind-configs", "conftest.py", "pyproject.toml"),
    plugins=True,
)


def choose(engine: docker.DockerClient, reference: str | None, tell: Tell = lambda _: None) -> str:
    """The user's image, or without one that of `ensure`. Raises UsageError when the engine does not have it."""
    if reference is None:
        return ensure(engine, tell)
    if not _has_any(engine, reference):
        raise UsageError(f"the Docker engine has no image {reference}: pull, load or build it first")
    return reference


def ensure(engine: docker.DockerClient, tell: Tell = lambda _: None, image: Image = DRIVER) -> str:
    """The reference of an image, which the engine has afterwards; built when anything in it has changed.

    Raises UsageError where neither a registry answers nor mmdebstrap is installed, InfrastructureError when a step
    fails.
    """
    if not (image.deploy / "Dockerfile").exists():
        raise UsageError(f"{image.what} image is made from a checkout of the project: {image.deploy} is not there")
    content = _digest(image)
    try:
        with FileLock(base_directory() / "driver-image.lock"):
            if not _has(engine, image.reference, content):
                _build(engine, image, _base(engine, tell), content, tell)
    except DockerException as error:
        raise InfrastructureError(f"{image.what} image cannot be built: {' '.join(str(error).split())}") from error
    return image.reference


def size(engine: docker.DockerClient, image: Image = DRIVER) -> int:
    """How many bytes the image has."""
    return int(engine.images.get(image.reference).attrs["Size"])


def _has(engine: docker.DockerClient, reference: str, content: str) -> bool:
    try:
        return bool(engine.images.get(reference).labels.get(_CONTENT) == content)
    except ImageNotFound:
        return False


def _files(image: Image) -> Iterator[tuple[str, Path]]:
    """What is copied of the project, in a fixed order."""
    for source in image.sources:
        top = _ROOT / source
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and not {*path.parts, path.suffix} & _NOT_COPIED:
                yield str(path.relative_to(_ROOT)), path


def _digest(image: Image) -> str:
    digest = hashlib.sha256(f"{_BASE} {_OWN_BASE}".encode())
    more = ((name, image.deploy / name) for name in ("Dockerfile", "requirements.txt"))
    for name, path in (*_files(image), *more):
        digest.update(f"\0{name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _build(engine: docker.DockerClient, image: Image, base: str, content: str, tell: Tell) -> None:
    tell(f"image {image.reference} on {base}")
    with tempfile.TemporaryDirectory(prefix="dra-e2e-image-") as scratch:
        packages = Path(scratch) / "site-packages"
        _install(engine, image, base, packages)
        context = _context(image, packages)
    before = {old.id for old in engine.images.list(image.reference)}
    try:
        made, _ = engine.images.build(
            fileobj=context,
            custom_context=True,
            tag=image.reference,
            buildargs={"BASE": base},
            labels={_CONTENT: content},
            rm=True,
            forcerm=True,
        )
    except BuildError as error:
        raise InfrastructureError(f"{image.what} image cannot be built: {error.msg}") from error
    for old in before - {made.id}:
        # Without its name nobody would find it again.
        with suppress(APIError):
            engine.images.remove(str(old))


def _install(engine: docker.DockerClient, image: Image, base: str, target: Path) -> None:
    """Have the pinned packages of the image's Python and machine, whatever runs here."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}[engine.images.get(base).attrs["Architecture"]]
    platforms = (f"manylinux2014_{machine}", f"manylinux_2_28_{machine}", "any")
    abis = (f"cp{_PYTHON.replace('.', '')}", "abi3", "none")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    command += ["--no-deps", "--only-binary=:all:", "--implementation=cp", f"--python-version={_PYTHON}"]
    command += [*(f"--abi={abi}" for abi in abis), *(f"--platform={platform}" for platform in platforms)]
    command += ["--require-hashes", f"--requirement={image.deploy / 'requirements.txt'}", f"--target={target}"]
    _run(command, f"{image.what} packages cannot be installed")


def _context(image: Image, packages: Path) -> io.BytesIO:
    """What the Dockerfile copies, as a tar file: the project, and packages in site-packages/."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        tar.add(image.deploy / "Dockerfile", "Dockerfile")
        for name, path in _files(image):
            tar.add(path, name)
        dropped = (".pyi", "/bin", "__pycache__", *(() if image.plugins else (".dist-info",)))
        tar.add(
            packages, "site-packages", filter=lambda entry: None if entry.name.endswith(dropped) else _of_root(entry)
        )
    file.seek(0)
    return file


def _of_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    return entry


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
