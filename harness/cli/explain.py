"""`explain`: why a Pod is pending or gone, why a claim, a group, a device or a node is as it is, on any cluster."""

import argparse
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import yaml
from kubernetes.config import ConfigException, list_kube_config_contexts

from harness import releases
from harness.cli.command import Commands
from harness.errors import UsageError
from harness.explain import FORMS, Subject, explain, render
from harness.kube import Client

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
    parser.add_argument("--kubeconfig", type=Path, help="default: $KUBECONFIG, or ~/.kube/config")
    parser.add_argument("--context", help="the context in the kubeconfig (default: its current one)")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text")


def _explain(kind: str, chosen: argparse.Namespace) -> int:
    show: Callable[..., str] = render.as_json if chosen.output == "json" else render.text
    kubeconfig = chosen.kubeconfig or _usual()
    namespace = chosen.namespace or _namespace(kubeconfig, chosen.context)
    subject = Subject.parse(kind, chosen.name, namespace)
    with tempfile.TemporaryDirectory(prefix="dra-e2e-") as keys:  # nothing is written beside the user's kubeconfig
        print(show(explain(_client(kubeconfig, chosen.context, Path(keys)), subject)))
    return 0


def _usual() -> Path:
    """Where kubectl looks, too."""
    return Path(os.environ.get("KUBECONFIG") or Path.home() / ".kube" / "config")


def _client(kubeconfig: Path, context: str | None, keys: Path) -> Client:
    """A client that speaks the API versions of the cluster's release, as far as that is a known one."""
    client = Client(kubeconfig, context=context, keys=keys)
    version = client.raw("GET", "/version")
    with suppress(UsageError):  # a release without data here speaks the newest versions, or says that it does not
        client.release = releases.get(f"{version['major']}.{version['minor'].rstrip('+')}")
    return client


def _namespace(kubeconfig: Path, context: str | None) -> str:
    """The namespace of the context. Raises UsageError where there is no such context."""
    try:
        contexts, current = list_kube_config_contexts(str(kubeconfig))  # type: ignore[no-untyped-call]
    except (ConfigException, OSError, yaml.YAMLError) as error:
        raise UsageError(f"kubeconfig {kubeconfig} cannot be used ({error}); name one with --kubeconfig") from error
    found = current if context is None else next((each for each in contexts if each["name"] == context), None)
    if found is None:
        known = ", ".join(each["name"] for each in contexts)
        raise UsageError(f"kubeconfig {kubeconfig} has no context {context}: choose one of {known}")
    return str(found["context"].get("namespace") or "default")
