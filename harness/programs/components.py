"""The user's own builds in place of ours: `--component NAME=PATH-or-RELEASE`, `--component-arg NAME=FLAG`."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness import releases
from harness.errors import UsageError
from harness.programs.program import Program
from harness.programs.store import sha256
from harness.programs.supply import default
from harness.releases import Release

#: What a cluster runs, and so what can be replaced or given flags.
COMPONENTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet")

_VERSION = re.compile(r"\bv?\d+\.\d+\.\d+\S*")
_VERSION_TIMEOUT = 30.0


@dataclass(frozen=True)
class Components:
    """Replacements of single components and flags to add."""

    own: Mapping[str, Program] = field(default_factory=dict)
    """Programs the user named by path."""
    skewed: Mapping[str, Release] = field(default_factory=dict)
    """Components to take from another release."""
    extra_args: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def parse(cls, component: Sequence[str] = (), component_arg: Sequence[str] = ()) -> "Components":
        """Read the values of the two options. Raises UsageError for what is unknown, absent or does not run."""
        own: dict[str, Program] = {}
        skewed: dict[str, Release] = {}
        for value in component:
            name, what = _split("--component", value, "PATH or RELEASE")
            if name in own or name in skewed:
                raise UsageError(f"--component {name} is given twice; give one replacement for each component")
            if re.fullmatch(r"v?\d+\.\d+(\.\d+)?", what):
                skewed[name] = releases.get(what)
            else:
                own[name] = _own_program(name, Path(what).expanduser().absolute())
        extra: dict[str, tuple[str, ...]] = {}
        for value in component_arg:
            name, flag = _split("--component-arg", value, "FLAG")
            if not flag.startswith("-"):
                raise UsageError(f"--component-arg {value}: write {name}=FLAG with its dashes, such as {name}=--v=5")
            extra[name] = (*extra.get(name, ()), flag)
        return cls(own, skewed, extra)

    def program(self, name: str, release: Release) -> Program:
        """Return the replacement of this component, or the release's own program. Raises InfrastructureError."""
        if name in self.own:
            return self.own[name]
        return default().get_all([name], self.skewed.get(name, release))[name]

    def args(self, name: str) -> tuple[str, ...]:
        """Return the flags to add to the component's own, in the order given."""
        return self.extra_args.get(name, ())

    @property
    def replacements(self) -> Mapping[str, Program]:
        """The programs that are not the release's own; those of another release are fetched or built on first use."""
        return {**self.own, **{name: self.program(name, release) for name, release in self.skewed.items()}}


def _split(option: str, value: str, what: str) -> tuple[str, str]:
    name, _, rest = value.partition("=")
    if name not in COMPONENTS:
        raise UsageError(f"{option} {value}: unknown component {name!r}; known are {', '.join(COMPONENTS)}")
    if not rest:
        raise UsageError(f"{option} {value}: write {name}={what}")
    return name, rest


def _own_program(name: str, path: Path) -> Program:
    if not path.is_file():
        raise UsageError(f"--component {name}: there is no file {path}")
    try:
        done = subprocess.run(
            [path, "--version"], check=True, capture_output=True, text=True, errors="replace", timeout=_VERSION_TIMEOUT
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"--component {name}: {path} --version does not run: {_brief(error)}") from error
    version = _VERSION.search(done.stdout)
    if version is None:
        raise UsageError(f"--component {name}: {path} --version tells no version; is it a {name}?")
    return Program(name, path, version[0], sha256(path), "replaced")


def _brief(error: Exception) -> str:
    match error:
        case OSError(strerror=str(reason)):
            return reason
        case subprocess.CalledProcessError(returncode=code):
            return f"exit code {code}"
        case _:
            return f"no answer within {_VERSION_TIMEOUT:.0f} s"
