"""`python -m harness.clusters.local.cri.generate [DIR]` writes the typed message classes of cri.proto anew."""

import sys
from importlib import import_module
from pathlib import Path

from harness.errors import InfrastructureError

ROOT = Path(__file__).parents[4]
PROTO = Path(__file__).with_name("cri.proto").relative_to(ROOT)
GENERATED = tuple(PROTO.with_name(name) for name in ("cri_pb2.py", "cri_pb2.pyi"))


def generate(directory: Path = ROOT) -> None:
    """Write the generated modules beneath `directory`, in the folders of their package.

    Raises InfrastructureError when the compiler reports an error.
    """
    # A development dependency without type hints; the server itself does without it.
    compiler = import_module("grpc_tools.protoc")
    # The compiler would look for the plugin in PATH, but it is installed beside this Python.
    plugin = Path(sys.executable).with_name("protoc-gen-mypy")
    arguments = [f"--plugin=protoc-gen-mypy={plugin}", f"--python_out={directory}", f"--mypy_out=quiet:{directory}"]
    if compiler.main(["protoc", f"--proto_path={ROOT}", *arguments, str(PROTO)]) != 0:
        raise InfrastructureError(f"{PROTO} does not compile: mend it as the compiler's message above says")


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
