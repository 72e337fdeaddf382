"""bench.json and its page."""

import json
from pathlib import Path

from harness.bench import page
from harness.bench.model import Bench
from harness.errors import InfrastructureError, UsageError

JSON = "bench.json"
PAGE = "bench.html"


def read(path: Path) -> Bench:
    """Read bench.json, given itself or its directory. Raises UsageError where it is none."""
    file = path / JSON if path.is_dir() else path
    try:
        return Bench.from_json(json.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"no numbers at {path}: {error.strerror}") from error
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} is no bench.json of this version of dra-e2e: {error!r}") from error


def write(bench: Bench, directory: Path) -> Path:
    """Write both; returns the page. Raises InfrastructureError when there is no place for them."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        text = json.dumps(bench.to_json(), indent=1, ensure_ascii=False)
        (directory / JSON).write_text(text + "\n", encoding="utf-8")
        (directory / PAGE).write_text(page.render(bench), encoding="utf-8")
    except OSError as error:
        raise InfrastructureError(f"the numbers were not written: {error}") from error
    return directory / PAGE
