import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.clusters.existing import target
from harness.errors import UsageError

CONTENT: dict[str, Any] = {
    "kind": "Config",
    "current-context": "a",
    "contexts": [
        {"name": "a", "context": {"cluster": "one", "user": "me"}},
        {"name": "b", "context": {"cluster": "two", "user": "me"}},
        {"name": "lost", "context": {"cluster": "gone", "user": "me"}},
    ],
    "clusters": [
        {"name": "one", "cluster": {"server": "https://one", "certificate-authority": "ca.crt"}},
        {"name": "two", "cluster": {"server": "https://two"}},
    ],
    "users": [{"name": "me", "user": {"client-key": "/keys/me"}}],
}


def written(tmp_path: Path, content: object = CONTENT) -> Path:
    file = tmp_path / "config"
    file.write_text(yaml.safe_dump(content))
    return file


def test_copy_has_only_the_context_with_absolute_paths_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    target.read(written(tmp_path)).write(copy)

    content = yaml.safe_load(copy.read_text())
    assert content["clusters"][0]["cluster"] == {
        "server": "https://one",
        "certificate-authority": str(tmp_path / "ca.crt"),
    }
    assert content["users"][0]["user"] == {"client-key": "/keys/me"}
    assert [len(content[part]) for part in ("contexts", "clusters", "users")] == [1, 1, 1]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_context_may_be_chosen(tmp_path: Path) -> None:
    chosen = target.read(written(tmp_path), "b")
    assert chosen.content["clusters"][0]["cluster"]["server"] == "https://two"


@pytest.mark.parametrize(
    ("content", "context", "message"),
    [
        (CONTENT, "c", "has no context c: choose one of a, b, lost"),
        (CONTENT, "lost", "names gone, which the file does not define"),
        ({**CONTENT, "current-context": ""}, None, "no current context: name one with --context"),
        ({"kind": "List"}, None, "is no kubeconfig"),
        ("text", None, "is no kubeconfig"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(tmp_path: Path, content: object, context: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        target.read(written(tmp_path, content), context)


def test_without_a_file_it_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--kubeconfig"):
        target.read(None)
    with pytest.raises(UsageError, match="cannot read"):
        target.read(tmp_path / "none")


def test_driver_and_class_go_together(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--device-class"):
        target.read(written(tmp_path), driver="gpu.example.com")
