"""Ctrl-C before a command has begun."""

import subprocess
import sys

_WHILE_IMPORTS_EXECUTE_TEXT = """
import sys, types
class Cli(types.ModuleType):
    def __getattr__(self, name):
        exec("raise KeyboardInterrupt")
sys.modules["harness.cli"] = Cli("harness.cli")
from harness.__main__ import run
sys.exit(run())
"""


def test_ctrl_c_while_imports_execute_text() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WHILE_IMPORTS_EXECUTE_TEXT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, "dra-e2e: interrupted\n")
