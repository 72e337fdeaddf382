"""What a pretended container does, read off its command so that the same manifest does the same in a real container.

Understood are `sleep N`, `true`, `false` and `echo WORDS`, alone or in `sh -c SCRIPT`, where a script joins them and
`exit N`, `trap HANDLER TERM`, `sleep N & wait` and `:` by `;`, newline, `&&` or `||`. A program whose path begins with
`/nonexistent` is not there. Whatever else is met runs until the container is stopped.

A shell cannot handle a signal while a command runs in its foreground. A manifest that traps TERM therefore writes
`sleep infinity & wait`; here the handler runs at once either way.
"""

import asyncio
import math
import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Self

#: 128 + SIGTERM and 128 + SIGKILL, as every runtime reports a process that a signal ended.
TERMINATED = 143
KILLED = 137

_NOT_THERE = "/nonexistent"
_SHELLS = frozenset({"sh", "ash", "bash", "dash"})
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_PUNCTUATION = frozenset(";&|<>()\n")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


class StartError(Exception):
    """The container cannot be started; the text is the one a real runtime gives."""


@dataclass(frozen=True)
class Sleep:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Echo:
    """Write one line to standard output."""

    line: str


@dataclass(frozen=True)
class Program:
    """Steps in order, then the exit code; `on_term` is what SIGTERM makes of it, where that is not to die at once."""

    steps: tuple[Sleep | Echo, ...]
    exit_code: int = 0
    on_term: "Program | None" = None

    @property
    def endless(self) -> bool:
        """It never exits by itself."""
        return Sleep(math.inf) in self.steps

    async def play(self, since: float, say: Callable[[str], None]) -> None:
        """Take the steps as if the first had begun at `since`, in seconds since the epoch; lines go to `say`."""
        due = since
        for step in self.steps:
            if isinstance(step, Sleep):
                due += step.seconds
                await asyncio.sleep(due - time.time())
            else:
                say(step.line)

    def without_lines(self, count: int) -> Self:
        """The same with the first `count` lines left unsaid."""
        said = [index for index, step in enumerate(self.steps) if isinstance(step, Echo)][:count]
        return replace(self, steps=tuple(step for index, step in enumerate(self.steps) if index not in said))


ENDLESS = Program((Sleep(math.inf),))


def parse(argv: Sequence[str], env: Mapping[str, str]) -> Program:
    """What the command does. An empty `argv` is the image's own program, of which nothing is known.

    Raises StartError when the command's program does not exist.
    """
    if not argv:
        return ENDLESS
    if argv[0].startswith(_NOT_THERE):
        raise StartError(f'exec: "{argv[0]}": stat {argv[0]}: no such file or directory')
    if _is_shell(argv):
        return _script(argv[2], env)
    reading = _Reading({})
    if PurePosixPath(argv[0]).name in {"sleep", "true", "false", "echo"}:
        reading.run(argv)
        return reading.program()
    return ENDLESS


def _is_shell(argv: Sequence[str]) -> bool:
    # `-c` may come with other options: `-ec`, `-xc`.
    return len(argv) > 2 and PurePosixPath(argv[0]).name in _SHELLS and re.fullmatch(r"-[a-z]*c", argv[1]) is not None


def _script(script: str, env: Mapping[str, str]) -> Program:
    lexer = shlex.shlex(script, posix=True, punctuation_chars="".join(_PUNCTUATION))
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    try:
        tokens = list(lexer)
    except ValueError:
        return Program((), exit_code=2)  # the shell's own answer to an unclosed quote
    reading = _Reading(env)
    words: list[str] = []
    operator = ";"
    for part in [*tokens, ";"]:
        if not part or not set(part) <= _PUNCTUATION:
            words.append(part)
            continue
        if words:
            reading.statement(operator, words, background=part == "&")
        operator, words = part, []
    return reading.program()


@dataclass
class _Reading:
    """A script as far as it was read. Every exit status is known beforehand, so conditions are decided here."""

    env: Mapping[str, str]
    steps: list[Sleep | Echo] = field(default_factory=list)
    status: int = 0
    ended: bool = False
    on_term: Program | None = None
    background: float = 0

    def program(self) -> Program:
        return Program(tuple(self.steps), self.status, self.on_term)

    def statement(self, operator: str, words: Sequence[str], *, background: bool) -> None:
        wanted = {"&&": self.status == 0, "||": self.status != 0}.get(operator, True)
        if self.ended or not wanted:
            return
        if operator.strip("\n") not in {"", ";", "&", "&&", "||"}:
            self._end_never()
        elif background:
            self._start_behind(words)
        else:
            self.run(words)

    def run(self, words: Sequence[str]) -> None:
        program, arguments = words[0], words[1:]
        self.status = 0
        match PurePosixPath(program).name, arguments:
            case "sleep", [duration] if (seconds := _seconds(duration)) is not None:
                self._sleep(seconds)
            case ("true", _) | (":", []):
                pass
            case "false", _:
                self.status = 1
            case "echo", _:
                self.steps.append(Echo(" ".join(map(self._expanded, arguments))))
            case "exit", [] | [_] if all(argument.isdigit() for argument in arguments):
                self.status, self.ended = int(arguments[0]) % 256 if arguments else 0, True
            case "trap", [handler, *signals] if signals:
                self._trap(handler, signals)
            case "wait", []:
                self._sleep(self.background)
            case _ if program.startswith(_NOT_THERE):
                self.status = 127
            case _:
                self._end_never()

    def _start_behind(self, words: Sequence[str]) -> None:
        seconds = _seconds(words[1]) if len(words) == 2 and words[0] == "sleep" else None
        if seconds is None:
            self._end_never()
        else:
            self.background = max(self.background, seconds)

    def _trap(self, handler: str, signals: Sequence[str]) -> None:
        if not {"TERM", "SIGTERM", "15"} & set(signals):
            return
        if handler == "-":
            self.on_term = None
        else:
            # An empty handler ignores the signal. One that does not exit resumes the script, which `wait` and the
            # sleeps then leave: nearest to that is to end with the handler.
            self.on_term = _script(handler, self.env) if handler else ENDLESS

    def _sleep(self, seconds: float) -> None:
        self.steps.append(Sleep(seconds))
        self.ended = self.ended or math.isinf(seconds)

    def _end_never(self) -> None:
        self._sleep(math.inf)

    def _expanded(self, word: str) -> str:
        return _VARIABLE.sub(lambda found: self.env.get(found[1] or found[2], ""), word)


def _seconds(text: str) -> float | None:
    if text in {"infinity", "inf"}:
        return math.inf
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text)
    return float(found[1]) * _UNITS[found[2]] if found else None
