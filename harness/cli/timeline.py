"""`timeline`: the devices and Pods of a namespace on one time axis, on any cluster."""

import argparse
import json
import sys
from pathlib import Path

from harness.cli import kubeconfig
from harness.cli.command import Commands
from harness.errors import UsageError
from harness.timeline import read, svg

_ABOUT = "draw the Pods of a namespace and their devices on one time axis, on any cluster"


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add("timeline", _draw, _ABOUT)
    parser.add_argument("namespace", metavar="NS", help="the namespace")
    kubeconfig.options(parser)
    parser.add_argument("-o", dest="form", choices=("svg", "json"), default="svg", help="svg (default) or json")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where to write it (default: standard output)")


def _draw(chosen: argparse.Namespace) -> int:
    if not chosen.namespace or "/" in chosen.namespace:
        raise UsageError(f"{chosen.namespace!r} is no name of a namespace")
    with kubeconfig.client(chosen) as client:
        found, unread = read(client, chosen.namespace)
    if found is None:
        raise UsageError(f"namespace {chosen.namespace} has neither Pods nor ResourceClaims: there is nothing to draw")
    text = svg.document(found) if chosen.form == "svg" else json.dumps(found.to_json(), indent=1) + "\n"
    for line in unread:
        print(f"dra-e2e: not in the picture: {line}", file=sys.stderr)
    if chosen.output is None:
        print(text, end="")
        return 0
    try:
        chosen.output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {chosen.output}: {error.strerror}") from error
    return 0
