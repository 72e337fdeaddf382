"""A run whose cluster does not answer is told, kept, and holds up nobody."""

from collections.abc import Iterator

import pytest

from harness.clusters import reaper
from harness.clusters.existing import remains
from harness.clusters.existing.facts import Facts
from harness.clusters.run import Run
from harness.errors import InfrastructureError


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """A dead run with a cluster that does not answer."""

    def connect(*_: object) -> None:
        raise InfrastructureError("it gave no answer")

    own = Run.create()
    directory = own.directory / "s1"
    directory.mkdir()
    Facts("existing", own.id, "1.37", ["n1"], "busybox", "api", "", {}, [], []).write(directory)
    own.release()
    with monkeypatch.context() as patched:
        patched.setattr(remains, "Client", connect)
        yield own


def test_it_is_kept_and_told(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.id not in reaper.reap()
    assert run.directory.exists()
    told = capsys.readouterr().err
    assert f"dra-e2e/run={run.id}" in told
    assert "reap --kubeconfig" in told
