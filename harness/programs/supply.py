"""Programs from the cache, else downloaded, else built."""

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import groupby
from pathlib import Path

import platformdirs

from harness.errors import InfrastructureError
from harness.programs.build import build, source
from harness.programs.download import Downloader, Unavailable
from harness.programs.program import Artifact, Platform, Program
from harness.programs.recipes import Recipe, recipe_for
from harness.programs.store import Store
from harness.releases import Release


class Supply:
    """Gets programs into one cache."""

    def __init__(self, root: Path, mirror: str | None = None) -> None:
        self._store = Store(root)
        self._downloader = Downloader(mirror)

    def get_all(self, names: Iterable[str], release: Release, platform: Platform | None = None) -> dict[str, Program]:
        """See `harness.programs.get_all`."""
        wanted = [
            (recipe, self._artifact(recipe, release, platform)) for recipe in map(recipe_for, dict.fromkeys(names))
        ]
        with self._clear_errors(), _unwinding_on_sigterm():
            programs = {artifact.name: self._store.find(artifact) for _, artifact in wanted}
            missing = [(recipe, artifact) for recipe, artifact in wanted if programs[artifact.name] is None]
            for _, group in groupby(sorted(missing, key=_project), key=_project):
                programs.update(self._make_group(list(group)))
        return {name: program for name, program in programs.items() if program is not None}

    def source(self, name: str, release: Release) -> Path:
        """See `harness.programs.source`."""
        recipe = recipe_for(name)
        return source(recipe, recipe.project.version(release), self._store.root)

    def _artifact(self, recipe: Recipe, release: Release, platform: Platform | None) -> Artifact:
        return Artifact(recipe.name, recipe.project.version(release), platform or Platform.host())

    def _make_group(self, group: list[tuple[Recipe, Artifact]]) -> dict[str, Program]:
        """Download or build programs of one project, unless another process has done so meanwhile."""
        programs: dict[str, Program] = {}
        with self._store.lock([artifact for _, artifact in group]):
            missing = []
            for recipe, artifact in group:
                if program := self._store.find(artifact):
                    programs[artifact.name] = program
                else:
                    missing.append((recipe, artifact))
            obstacles: list[str] = []
            programs |= self._download(missing, obstacles)
            try:
                programs |= self._build([pair for pair in missing if pair[1].name not in programs])
            except InfrastructureError as error:
                raise InfrastructureError(f"{error} (nor downloaded: {obstacles[-1]})") from error
        return programs

    def _download(self, group: list[tuple[Recipe, Artifact]], obstacles: list[str]) -> dict[str, Program]:
        """Return those of the programs that are to be had, and add why the others are not."""
        programs: dict[str, Program] = {}
        for _, same_file in groupby(group, key=lambda pair: pair[0].address(pair[1])):
            recipes, artifacts = zip(*same_file, strict=True)
            try:
                with self._store.workspace(artifacts[0]) as folder:
                    files = self._downloader.fetch(recipes, artifacts, folder)
                    programs |= {a.name: self._store.install(a, files[a.name], "downloaded") for a in artifacts}
            except Unavailable as error:
                obstacles.append(str(error))
        return programs

    def _build(self, group: list[tuple[Recipe, Artifact]]) -> dict[str, Program]:
        if not group:
            return {}
        recipes, artifacts = zip(*group, strict=True)
        with self._store.workspace(artifacts[0]) as folder:
            files = build(recipes, artifacts, folder, self._store.root)
            return {a.name: self._store.install(a, files[a.name], "built") for a in artifacts}

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        root = self._store.root
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise InfrastructureError(
                    f"no space left in {root}; free some, or set XDG_CACHE_HOME elsewhere"
                ) from error
            raise InfrastructureError(f"cannot use the cache {root}: {error}; set XDG_CACHE_HOME elsewhere") from error


@contextmanager
def _unwinding_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end us as Ctrl-C does: what we started ends first, and what is half done goes."""
    in_main_thread = threading.current_thread() is threading.main_thread()  # elsewhere Python sets no handlers
    if not in_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:  # a caller's own unwinds, too
        yield
        return
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _project(pair: tuple[Recipe, Artifact]) -> str:
    return pair[0].project.module


@cache
def default() -> Supply:
    """Return the supply of this process: the user's cache, and the mirror named by DRA_E2E_DOWNLOAD_MIRROR if any."""
    return Supply(Path(platformdirs.user_cache_dir("dra-e2e")), os.environ.get("DRA_E2E_DOWNLOAD_MIRROR"))
