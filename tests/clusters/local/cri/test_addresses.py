from ipaddress import IPv4Network

import pytest

from harness.clusters.local.cri.addresses import Addresses
from harness.clusters.local.cri.errors import CallError


def test_addresses_are_unique_and_a_freed_one_comes_last() -> None:
    addresses = Addresses(IPv4Network("10.0.0.0/29"))
    addresses.claim("10.0.0.2")
    first = addresses.take()
    addresses.release(first)
    assert [first, *(addresses.take() for _ in range(5))] == [f"10.0.0.{last}" for last in (1, 3, 4, 5, 6, 1)]
    with pytest.raises(CallError, match=r"10\.0\.0\.0/29"):
        addresses.take()
