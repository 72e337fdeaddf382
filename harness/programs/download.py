"""Official release downloads, verified against the published SHA-256."""

import re
import shutil
import tarfile
import urllib.request
from collections.abc import Sequence
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
        proxies = urllib.request.getproxies()
        proxy = proxies.get("https") or proxies.get("all")
        self._direct = urllib3.PoolManager(timeout=TIMEOUT)
        self._proxied = urllib3.ProxyManager(proxy, timeout=TIMEOUT) if proxy else self._direct

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
        with self._open(address) as response:
            text = response.read(_CHUNK).decode("utf-8", "replace")
        sums = _SUM.findall(text)
        wanted = of.rpartition("/")[2]
        for digest, name in sums:
            if name.rpartition("/")[2] == wanted or (not name and len(sums) == 1):
                return str(digest).lower()
        raise Unavailable(f"{address} has no SHA-256 for {wanted}")

    def _save(self, address: str, file: Path, report: Report) -> None:
        with self._open(address) as response, file.open("wb") as out:
            total = int(response.headers.get("Content-Length") or 0)
            done = 0
            try:
                for chunk in response.stream(_CHUNK):
                    done += out.write(chunk)
                    report(f"{done / 1e6:.0f} of {total / 1e6:.0f} MB" if total else f"{done / 1e6:.0f} MB")
            except urllib3.exceptions.HTTPError as error:
                raise Unavailable(f"{address} broke off: {error}") from error

    def _open(self, address: str) -> urllib3.BaseHTTPResponse:
        url = f"{self._mirror.rstrip('/')}/{address.removeprefix('https://')}" if self._mirror else address
        host = urlsplit(url).netloc
        if host in self._unreachable:
            raise Unavailable(self._unreachable[host])
        pool = self._direct if urllib.request.proxy_bypass(host) else self._proxied
        try:
            # Redirects only: whoever cannot be reached is not asked twice.
            retries = urllib3.Retry(total=5, connect=0, read=0, redirect=5, other=0)
            response = pool.request("GET", url, preload_content=False, retries=retries)
        except urllib3.exceptions.HTTPError as error:
            self._unreachable[host] = f"{host} cannot be reached"
            raise Unavailable(self._unreachable[host]) from error
        if response.status != 200:
            response.close()
            raise Unavailable(f"{url} answers {response.status}")
        return response


def _extract(archive: Path, member: str, target: Path) -> Path:
    try:
        with tarfile.open(archive) as tar:
            source = tar.extractfile(member)
            if source is None:
                raise KeyError(member)
            with source, target.open("wb") as out:
                shutil.copyfileobj(source, out)
    except (tarfile.TarError, KeyError, EOFError) as error:
        raise InfrastructureError(f"the archive downloaded for {target.name} holds no {member}: {error}") from error
    return target
