"""Official release downloads, verified against the published SHA-256."""

import re
import shutil
import tarfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import urllib3

from harness.errors import InfrastructureError
from harness.programs.program import Artifact
from harness.programs.progress import Report, step
from harness.programs.recipes import Recipe, fill
from harness.programs.store import sha256

#: Seconds. A site that does not answer at once is given up for a build; one that answers may be slow.
TIMEOUT = urllib3.Timeout(connect=3, read=30)
_CHUNK = 1 << 20
_SUM = re.compile(r"^([0-9a-fA-F]{64})(?:\s+\*?(\S+))?\s*$", re.MULTILINE)


class Unavailable(Exception):
    """The download cannot be had here; the program may still be built."""


class Downloader:
    """Fetches from the projects' own sites, or from a mirror that has `HOST/PATH` for each `https://HOST/PATH`."""

    def __init__(self, mirror: str | None = None) -> None:
        self._mirror = mirror
        self._unreachable: dict[str, str] = {}

    def fetch(self, recipes: Sequence[Recipe], artifacts: Sequence[Artifact], folder: Path) -> dict[str, Path]:
        """Download the programs, all from one address, into the folder; return them by name.

        Raises Unavailable where the site or the file is not to be had, InfrastructureError for a wrong checksum.
        """
        address = recipes[0].address(artifacts[0])
        expected = self._published_sum(recipes[0].checksum_address(artifacts[0]), address)
        file = folder / "download"
        with step(f"downloading {address}") as report:
            self._save(address, file, report)
        if (found := sha256(file)) != expected:
            raise InfrastructureError(
                f"{address} has the SHA-256 {found}, but {expected} is published; nothing was installed. "
                "Try again; if it stays so, do not trust the download"
            )
        return {
            artifact.name: _extract(file, fill(recipe.member, artifact), folder / artifact.name)
            if recipe.member
            else file
            for recipe, artifact in zip(recipes, artifacts, strict=True)
        }

    def _published_sum(self, address: str, of: str) -> str:
        with self._open(address) as response, _broken_off(address):
            text = response.read(_CHUNK).decode("utf-8", "replace")
        sums = _SUM.findall(text)
        wanted = of.rpartition("/")[2]
        for digest, name in sums:
            if name.rpartition("/")[2] == wanted or (not name and len(sums) == 1):
                return str(digest).lower()
        raise Unavailable(f"{address} has no SHA-256 for {wanted}")

    def _save(self, address: str, file: Path, report: Report) -> None:
        with self._open(address) as response, file.open("wb") as out, _broken_off(address):
            total = int(response.headers.get("Content-Length") or 0)
            done = 0
            for chunk in response.stream(_CHUNK):
                done += out.write(chunk)
                report(f"{done / 1e6:.0f} of {total / 1e6:.0f} MB" if total else f"{done / 1e6:.0f} MB")

    def _open(self, address: str) -> urllib3.BaseHTTPResponse:
        url = f"{self._mirror.rstrip('/')}/{address.removeprefix('https://')}" if self._mirror else address
        host = urlsplit(url).netloc
        if host in self._unreachable:
            raise Unavailable(self._unreachable[host])
        try:
            # Redirects only: whoever cannot be reached is not asked twice.
            retries = urllib3.Retry(total=5, connect=0, read=0, redirect=5, other=0)
            response = _pool(url).request("GET", url, preload_content=False, retries=retries)
        except urllib3.exceptions.HTTPError as error:
            self._unreachable[host] = f"{host} cannot be reached"
            raise Unavailable(self._unreachable[host]) from error
        if response.status != 200:
            response.close()
            raise Unavailable(f"{url} answers {response.status}")
        return response


def _pool(url: str) -> urllib3.PoolManager:
    """The way to an address: by the proxy that the environment names for it, or straight."""
    address = urlsplit(url)
    proxy = urllib.request.getproxies().get(address.scheme)
    if proxy is None or urllib.request.proxy_bypass(address.netloc):
        return urllib3.PoolManager(timeout=TIMEOUT)
    return urllib3.ProxyManager(proxy, timeout=TIMEOUT)


@contextmanager
def _broken_off(address: str) -> Iterator[None]:
    try:
        yield
    except urllib3.exceptions.HTTPError as error:
        raise Unavailable(f"{address} broke off: {error}") from error


def _extract(archive: Path, member: str, target: Path) -> Path:
    try:
        with tarfile.open(archive) as tar:
            source = tar.extractfile(next(entry for entry in tar if entry.name.removeprefix("./") == member))
            if source is None:
                raise KeyError(member)
            with source, target.open("wb") as out:
                shutil.copyfileobj(source, out)
    except (tarfile.TarError, StopIteration, KeyError, EOFError) as error:
        raise InfrastructureError(f"the archive downloaded for {target.name} holds no program {member}") from error
    return target
