import asyncio
import math
import time

import pytest

from harness.clusters.local.cri.commands import ENDLESS, Echo, Program, Sleep, StartError, parse


def script(text: str) -> Program:
    return parse(["/bin/sh", "-c", text], {"GPU": "gpu-0"})


@pytest.mark.parametrize(
    ("argv", "program"),
    [
        (["true"], Program((), 0)),
        (["false"], Program((), 1)),
        (["/usr/bin/sleep", "2"], Program((Sleep(2),))),
        (["sleep", "infinity"], ENDLESS),
        (["echo", "$GPU", "is", "literal"], Program((Echo(" is literal"),))),
        ([], ENDLESS),
        (["nvidia-smi"], ENDLESS),
        (["sleep", "soon"], ENDLESS),
    ],
)
def test_plain_commands(argv: list[str], program: Program) -> None:
    assert parse(argv, {}) == program


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("sleep 1; exit 3", Program((Sleep(1),), 3)),
        ("sleep 1m && false && echo no", Program((Sleep(60),), 1)),
        ("false || echo 'two  spaces'", Program((Echo("two  spaces"),))),
        ("false; echo $GPU ${GPU}x", Program((Echo("gpu-0 gpu-0x"),))),
        ("echo a\necho b", Program((Echo("a"), Echo("b")))),
        ("exit 300; sleep 5", Program((), 44)),
        ("exit 0; while true; do sleep 1; done", Program(())),
        ("sleep infinity; exit 3", ENDLESS),
        ("echo a; nvidia-smi; exit 3", Program((Echo("a"), Sleep(math.inf)))),
        ("echo a | tee b", Program((Echo("a"), Sleep(math.inf)))),
        ("/nonexistent/tool; echo $GPU", Program((Echo("gpu-0"),))),
        ("/nonexistent/tool", Program((), 127)),
        ("echo 'unclosed", Program((), 2)),
    ],
)
def test_scripts(text: str, program: Program) -> None:
    assert script(text) == program


def test_trap_says_what_sigterm_does() -> None:
    assert script("trap 'sleep 1; exit 7' TERM; sleep infinity & wait").on_term == Program((Sleep(1),), 7)
    assert script("trap '' TERM; sleep 5").on_term == ENDLESS
    assert script("trap 'exit 1' INT; sleep 5").on_term is None


def test_a_program_that_is_not_there_cannot_start() -> None:
    with pytest.raises(StartError, match="stat /nonexistent/x: no such file or directory"):
        parse(["/nonexistent/x", "-v"], {})


def test_play_counts_from_the_given_time() -> None:
    lines: list[str] = []
    program = Program((Echo("a"), Sleep(3600), Echo("b")))
    asyncio.run(program.without_lines(1).play(time.time() - 3600, lines.append))
    assert lines == ["b"]
