"""Pod addresses: unique among the nodes of one server, and never routed anywhere."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from harness.clusters.local.cri.errors import CallError


class Addresses:
    """Hands out the addresses of a network in turn, so that a freed one is not soon seen again."""

    def __init__(self, network: IPv4Network) -> None:
        self._network = network
        self._hosts = self._cycle()
        self._taken: set[str] = set()

    def take(self) -> str:
        """A free address. Raises CallError when the network has none."""
        for _ in range(self._network.num_addresses):
            address = next(self._hosts)
            if address not in self._taken:
                self._taken.add(address)
                return address
        raise CallError(f"all addresses of {self._network} are taken")

    def claim(self, address: str) -> None:
        """Mark an address as taken by a sandbox that was there before."""
        self._taken.add(address)

    def release(self, address: str) -> None:
        """Give an address back."""
        self._taken.discard(address)

    def _cycle(self) -> Iterator[str]:
        while True:
            yield from map(str, self._network.hosts())
