"""Files that only their owner may read."""

import tempfile
from pathlib import Path


def write_private(path: Path, content: str | bytes) -> Path:
    """Write a file that only its owner may read (mode 0600), whatever was there before.

    At once: another worker may write the same file, or read it, at the same time.
    """
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        file.write(data)
    Path(file.name).replace(path)
    return path
