"""`explain`: why a Pod is pending or gone, why a claim, a group, a device or a node is as it is, on any cluster."""

import argparse
from collections.abc import Callable
from functools import partial

from harness.cli import kubeconfig
from harness.cli.command import Commands
from harness.explain import FORMS, Subject, explain, render

_TEXTS = {
    "pod": "why a Pod is pending, does not start, or is gone",
    "claim": "why a ResourceClaim is not allocated, not ready, or not gone",
    "podgroup": "why a PodGroup is not scheduled",
    "device": "why a device cannot be had",
    "node": "what keeps Pods with devices from a node",
}


def add(commands: Commands) -> None:
    """Declare the commands."""
    group = commands.group("explain", "say why a Pod (claim, podgroup, device, node) is as it is, on any cluster")
    for kind, about in _TEXTS.items():
        options(group.add(kind, partial(_explain, kind), about), FORMS[kind])


def options(parser: argparse.ArgumentParser, form: str) -> None:
    """Declare what to explain, and where."""
    parser.add_argument("name", metavar=form)
    parser.add_argument("-n", "--namespace", help="the namespace of a name without one (default: the context's)")
    kubeconfig.options(parser)
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text")


def _explain(kind: str, chosen: argparse.Namespace) -> int:
    show: Callable[..., str] = render.as_json if chosen.output == "json" else render.text
    subject = Subject.parse(kind, chosen.name, chosen.namespace or kubeconfig.namespace(chosen))
    with kubeconfig.client(chosen) as client:
        print(show(explain(client, subject)))
    return 0
