"""Which node image is taken, by what an engine has and can pull; the engine here only answers that."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from docker.errors import APIError, ImageNotFound

from harness import releases
from harness.clusters.kind import chosen_image, node_image
from harness.clusters.kind.engine import Engine
from harness.errors import UsageError

OFFICIAL = "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5"
NEWEST = releases.get("1.37")


class StubEngine:
    """An engine with some images, and a registry with some."""

    def __init__(self, here: dict[str, str], registry: tuple[str, ...] = ()) -> None:
        self.here = here
        self.registry = registry
        self.images = SimpleNamespace(get=self._get, pull=self._pull)
        self.containers = SimpleNamespace(run=self._run)

    def client(self) -> "StubEngine":
        return self

    def _get(self, name: str) -> Any:
        if name not in self.here:
            raise ImageNotFound("no such image")
        return SimpleNamespace(tag=lambda other: self.here.update({other: ""}))

    def _pull(self, repository: str, tag: str) -> None:
        name = f"{repository}@{tag}" if tag.startswith("sha256:") else f"{repository}:{tag}"
        found = next((each for each in self.registry if each.replace(":v1.37.0@", "@") == name), None)
        if found is None:
            raise APIError("404", explanation="no such host")
        self.here[found] = "v1.37.0"

    def _run(self, name: str, *_: Any, **__: Any) -> bytes:
        if not self.here[name]:
            raise APIError("400", explanation="no such file")
        return f"{self.here[name]}\n".encode()


def choose(engine: StubEngine, reference: str | None) -> str:
    return chosen_image.choose(cast(Engine, engine), NEWEST, reference)


@pytest.fixture(autouse=True)
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_image, "ensure", lambda *_: "built")


def test_kinds_own_image_is_pulled_by_its_digest() -> None:
    engine = StubEngine({}, (OFFICIAL,))
    assert choose(engine, None) == OFFICIAL
    assert OFFICIAL in engine.here


def test_one_is_built_where_no_registry_answers() -> None:
    assert choose(StubEngine({}), None) == "built"


def test_the_users_image() -> None:
    assert choose(StubEngine({"mine:1": "v1.37.1"}), "mine:1") == "mine:1"


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("none:1", "image none:1 is not there and cannot be pulled: no such host"),
        ("shell:1", "--image shell:1 is no node image of kind: it has no /kind/version"),
        ("old:1", "--image old:1 has Kubernetes v1.36.4: say --k8s 1.36"),
    ],
)
def test_an_image_that_cannot_be(reference: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        choose(StubEngine({"shell:1": "", "old:1": "v1.36.4"}), reference)


def test_nodes_of_an_image_that_is_not_ours_get_a_shell() -> None:
    engine = StubEngine({"busybox:1.37": ""})
    assert chosen_image.shell(cast(Engine, engine), OFFICIAL) == node_image.SHELL
    assert node_image.SHELL in engine.here
    assert chosen_image.shell(cast(Engine, engine), f"{node_image.REPOSITORY}:v1.37.2-0123") is None


@pytest.mark.parametrize(
    ("reference", "parts"),
    [
        ("busybox", ("busybox", "latest")),
        ("busybox:1.37", ("busybox", "1.37")),
        ("localhost:5000/node", ("localhost:5000/node", "latest")),
        ("localhost:5000/node:v1", ("localhost:5000/node", "v1")),
        (OFFICIAL, ("kindest/node", OFFICIAL.partition("@")[2])),
        ("localhost:5000/node@sha256:0", ("localhost:5000/node", "sha256:0")),
    ],
)
def test_what_docker_is_asked_to_pull(reference: str, parts: tuple[str, str]) -> None:
    assert chosen_image._parts(reference) == parts
