"""Commands that read any cluster: which one, by the user's kubeconfig."""

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import yaml
from kubernetes.config import ConfigException, list_kube_config_contexts

from harness import releases
from harness.errors import UsageError
from harness.kube import Client


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--kubeconfig", type=Path, help="default: $KUBECONFIG, or ~/.kube/config")
    parser.add_argument("--context", help="the context in the kubeconfig (default: its current one)")


@contextmanager
def client(chosen: argparse.Namespace) -> Iterator[Client]:
    """A client that speaks the API versions of the cluster's release, as far as that is a known one.

    Raises UsageError where the kubeconfig or the context cannot be used.
    """
    namespace(chosen)
    with tempfile.TemporaryDirectory(prefix="dra-e2e-") as keys:  # nothing is written beside the user's kubeconfig
        made = Client(_path(chosen), context=chosen.context, keys=Path(keys))
        version = made.raw("GET", "/version")
        with suppress(UsageError):  # a release without data here speaks the newest versions, or says that it does not
            made.release = releases.get(f"{version['major']}.{version['minor'].rstrip('+')}")
        yield made


def namespace(chosen: argparse.Namespace) -> str:
    """The namespace of the context. Raises UsageError where there is no such context."""
    path = _path(chosen)
    try:
        contexts, current = list_kube_config_contexts(str(path))  # type: ignore[no-untyped-call]
    except (ConfigException, OSError, yaml.YAMLError) as error:
        why = " ".join(str(error).split())
        raise UsageError(f"kubeconfig {path} cannot be used ({why}); name one with --kubeconfig") from error
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        # The kubernetes package trips over other files.
        raise UsageError(f"{path} is no kubeconfig (kind: Config); name one with --kubeconfig") from error
    named = chosen.context
    found = current if named is None else next((each for each in contexts if each["name"] == named), None)
    if found is None:
        known = ", ".join(each["name"] for each in contexts)
        raise UsageError(f"kubeconfig {path} has no context {named}: choose one of {known}")
    return str(found["context"].get("namespace") or "default")


def _path(chosen: argparse.Namespace) -> Path:
    """Where kubectl looks, too."""
    return Path(chosen.kubeconfig or os.environ.get("KUBECONFIG") or Path.home() / ".kube" / "config")
