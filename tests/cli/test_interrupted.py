"""Ctrl-C before a command has begun."""

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]

_WHILE_IMPORTS_EXECUTE_TEXT = """
import sys, types
class Cli(types.ModuleType):
    def __getattr__(self, name):
        exec("raise KeyboardInterrupt")
sys.modules["harness.cli"] = Cli("harness.cli")
from harness.__main__ import run
sys.exit(run())
"""


def test_ctrl_c_while_imports_execute_text(tmp_path: Path) -> None:
    (tmp_path / "interrupted.py").write_text(_WHILE_IMPORTS_EXECUTE_TEXT)
    done = subprocess.run(
        [sys.executable, "-m", "interrupted"],  # Python ends by the signal for modules only
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{_ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, "dra-e2e: interrupted\n")
