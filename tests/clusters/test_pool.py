import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from harness.clusters import profile
from harness.clusters.pool import Pool, PooledCluster
from harness.clusters.profile import Profile
from harness.clusters.run import Run
from harness.errors import InfrastructureError

FEATURES, DEFAULTS = profile.load("features"), profile.load("defaults")


@dataclass
class StubCluster:
    """As much of a cluster as the pool looks at; its state is a directory, as a real one's."""

    directory: Path
    name: str

    def reset(self) -> None:
        (self.directory / "altered").unlink(missing_ok=True)

    def is_healthy(self) -> bool:
        return not (self.directory / "broken").exists()

    def delete(self) -> None:
        (self.directory / "name").unlink()


@dataclass
class StubProvider:
    started: list[str] = field(default_factory=list)
    before_start: Callable[[], None] = lambda: None
    lent_at_once: int = 2

    def start(self, directory: Path, *, name: str, profile: Profile) -> PooledCluster:
        self.before_start()
        directory.mkdir()
        (directory / "name").write_text(name)
        self.started.append(profile.key)
        return self.attach(directory)

    def attach(self, directory: Path) -> PooledCluster:
        return cast(PooledCluster, StubCluster(directory, (directory / "name").read_text()))


@pytest.fixture
def run() -> Run:
    return Run.create()


def test_a_shared_cluster_is_started_once_for_all_pools_of_a_run(run: Run) -> None:
    provider = StubProvider()
    pools = [Pool(run, provider) for _ in range(4)]
    threads = [threading.Thread(target=pool.shared, args=(FEATURES,)) for pool in pools]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert provider.started == ["features"]
    assert {pool.shared(FEATURES).name for pool in pools} == {"shared-features"}


def test_what_cannot_be_started_is_not_tried_again_by_others(run: Run) -> None:
    def fail() -> None:
        attempts.append(1)
        raise InfrastructureError("etcd ended by itself: no space left")

    attempts: list[int] = []
    provider = StubProvider(before_start=fail)
    for _ in range(2):
        with pytest.raises(InfrastructureError, match="no space left"):
            Pool(run, provider).shared(FEATURES)
    assert len(attempts) == 1


def test_an_interrupted_start_is_tried_again(run: Run) -> None:
    def interrupt() -> None:
        provider.before_start = lambda: None
        raise KeyboardInterrupt

    provider = StubProvider(before_start=interrupt)
    with pytest.raises(KeyboardInterrupt):
        Pool(run, provider).shared(FEATURES)
    assert Pool(run, provider).shared(FEATURES).name == "shared-features"


def test_a_lent_cluster_is_lent_again_when_it_is_healthy(run: Run) -> None:
    provider = StubProvider()
    pool = Pool(run, provider)
    for _ in range(3):
        with pool.exclusive(FEATURES) as cluster:
            (cast(StubCluster, cluster).directory / "altered").touch()
    assert provider.started == ["features"]


@pytest.mark.parametrize("how", ["broken", "spoilt", "raised", "borrower died"])
def test_a_lent_cluster_is_not_lent_again_when_it_is(how: str, run: Run) -> None:
    provider = StubProvider()
    pool = Pool(run, provider)
    with pool.exclusive(FEATURES):
        pass
    if how == "borrower died":
        (run.directory / "x0.lent").touch()
    elif how == "raised":
        with pytest.raises(ValueError, match="scenario"), pool.exclusive(FEATURES):
            raise ValueError("scenario")
    else:
        with pool.exclusive(FEATURES) as cluster:
            if how == "spoilt":
                pool.spoil(cluster)
            else:
                (cast(StubCluster, cluster).directory / "broken").touch()
    with pool.exclusive(FEATURES) as cluster:
        assert cluster.is_healthy()
    assert provider.started == ["features", "features"]


def test_two_borrowers_never_have_the_same_cluster(run: Run) -> None:
    provider = StubProvider()
    with Pool(run, provider).exclusive(FEATURES) as one, Pool(run, provider).exclusive(FEATURES) as other:
        assert one.name != other.name
    assert provider.started == ["features", "features"]


def test_a_borrower_waits_while_all_are_lent(run: Run) -> None:
    provider = StubProvider(lent_at_once=1)
    got = threading.Event()

    def borrow() -> None:
        with Pool(run, provider).exclusive(DEFAULTS):
            got.set()

    borrower = threading.Thread(target=borrow)
    with Pool(run, provider).exclusive(FEATURES):
        borrower.start()
        assert not got.wait(0.5)  # how long a wait shows that it waits: several of the pool's turns
    assert got.wait(5)
    borrower.join()
    assert provider.started == ["features", "defaults"]


def test_a_cluster_of_the_profile_is_preferred_over_a_place_for_a_new_one(run: Run) -> None:
    provider = StubProvider()
    pool = Pool(run, provider)
    with pool.exclusive(DEFAULTS), pool.exclusive(FEATURES):
        pass
    with pool.exclusive(FEATURES):
        pass
    assert provider.started == ["defaults", "features"]


def test_the_shared_cluster_of_a_profile_is_found(run: Run) -> None:
    pool = Pool(run, StubProvider())
    assert pool.find(FEATURES) is None
    pool.shared(FEATURES)
    found = Pool(run, StubProvider()).find(FEATURES)
    assert found is not None
    assert found.name == "shared-features"
    assert pool.find(DEFAULTS) is None
