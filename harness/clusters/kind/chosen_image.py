"""Which node image a cluster has: the user's, kind's own for the release, or one that is built here."""

import re

import docker
from docker.errors import APIError, DockerException, ImageNotFound

from harness.clusters.kind import node_image
from harness.clusters.kind.engine import Engine
from harness.errors import InfrastructureError, UsageError
from harness.programs import progress
from harness.releases import Release

#: Tells the Kubernetes version in an image of kind's; ours have it, too.
_VERSION_FILE = "/kind/version"
_VERSION = re.compile(r"v(\d+\.\d+)\.\S+")

#: A shell for Pods where the node image brings none.
_BUSYBOX = "busybox:1.37"


def choose(engine: Engine, release: Release, reference: str | None) -> str:
    """The node image's name; afterwards the engine has it, with progress where it is pulled or built.

    Without a `reference`: the one of kind's release for this Kubernetes, pinned by digest, where it is there or can be
    pulled, else one of our own. Raises UsageError for an image that cannot be had or is of another release, and as
    `node_image.ensure`.
    """
    client = engine.client()
    if reference is not None:
        _have(client, reference)
        _check(client, reference, release)
        return reference
    official = f"kindest/node:{release.component_version('kind-node')}"
    try:
        _have(client, official)
    except UsageError:
        return node_image.ensure(engine, release)
    return official


def shell(engine: Engine, image: str) -> str | None:
    """The image of a shell that has to be loaded into nodes of a node image that is not ours; None where it is ours.

    Raises UsageError where there is none.
    """
    client = engine.client()
    if image.startswith(f"{node_image.REPOSITORY}:"):
        return None
    if not node_image.has(client, node_image.SHELL):
        _have(client, _BUSYBOX)
        client.images.get(_BUSYBOX).tag(node_image.SHELL)
    return node_image.SHELL


def _have(client: docker.DockerClient, reference: str) -> None:
    """Raises UsageError where the engine neither has the image nor can pull it."""
    try:
        if not node_image.has(client, reference):
            with progress.step(f"pulling {reference}"):
                client.images.pull(*_parts(reference))
    except (APIError, ImageNotFound) as error:
        told = error.explanation or error
        raise UsageError(f"image {reference} is not there and cannot be pulled: {told}") from error


def _parts(reference: str) -> tuple[str, str | None]:
    """Repository and tag: without a tag Docker would pull all of them."""
    name, at, digest = reference.partition("@")
    repository, colon, tag = name.rpartition(":")
    if at:
        return name if not colon or "/" in tag else repository, digest
    return (reference, "latest") if not colon or "/" in tag else (repository, tag)


def _check(client: docker.DockerClient, reference: str, release: Release) -> None:
    """Raises UsageError unless it is a node image of the release."""
    try:
        told = client.containers.run(reference, [_VERSION_FILE], entrypoint="cat", remove=True, network_mode="none")
    except DockerException as error:
        raise UsageError(f"--image {reference} is no node image of kind: it has no {_VERSION_FILE}") from error
    found = _VERSION.fullmatch(told.decode(errors="replace").strip())
    if found is None:
        raise InfrastructureError(f"--image {reference}: {_VERSION_FILE} tells no version of Kubernetes")
    if found.group(1) != release.programs.minor:
        raise UsageError(f"--image {reference} has Kubernetes {found.group()}: say --k8s {found.group(1)}")
