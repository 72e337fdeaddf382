"""What a user asks of the clusters of a run beside release and profile."""

import re
from dataclasses import dataclass

from harness.errors import UsageError

#: What kind takes, and short enough for the names of nodes, which are host names: `NAME-x0-control-plane`.
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")

#: The only provider whose clusters have an image and a name that others see.
_KIND = "kind"


@dataclass(frozen=True)
class Wishes:
    """Checked; provider `kind` alone has these."""

    image: str | None = None
    """The node image, in place of the one of the release."""
    cluster_name: str | None = None
    """What kind calls the cluster that shares the run's profile; others of the run get a suffix."""

    @classmethod
    def read(cls, provider: str, image: str | None, cluster_name: str | None) -> "Wishes":
        """Raises UsageError for a name that no cluster can have, or where the provider has nothing to name."""
        for option, value in (("--image", image), ("--cluster-name", cluster_name)):
            if value is not None and provider != _KIND:
                raise UsageError(f"{option} means nothing with --provider {provider}: leave it out")
            if value is not None and not value.strip():
                raise UsageError(f"{option} names nothing")
        if cluster_name is not None and not _NAME.fullmatch(cluster_name):
            raise UsageError(
                f"--cluster-name {cluster_name}: a kind cluster's name has at most 40 small letters, digits and dashes"
            )
        return cls(image, cluster_name)
