"""Make the `_pb2` modules from the .proto files beside this file (needs grpcio-tools and mypy-protobuf)."""

import os
import sys
from pathlib import Path

from grpc_tools import protoc  # type: ignore[import-untyped]

_HERE = Path(__file__).parent


def generate(target: Path) -> None:
    """Write `fake_driver/protos/*_pb2.py` and `.pyi` below `target`."""
    root = _HERE.parent.parent
    # protoc looks for its plugin (protoc-gen-mypy) in PATH; it is installed beside this Python.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    sources = [str(proto.relative_to(root)) for proto in sorted(_HERE.glob("*.proto"))]
    failed = protoc.main(["protoc", f"-I{root}", f"--python_out={target}", f"--mypy_out={target}", *sources])
    if failed:
        raise SystemExit(failed)


if __name__ == "__main__":
    generate(_HERE.parent.parent)
