import os
import signal
import threading

import pytest

from harness.clusters.uninterrupted import uninterrupted


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_polite_signal_is_answered_and_the_work_ends(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)
    done = []
    with uninterrupted("still removing what run abcdef has"):
        os.kill(os.getpid(), number)
        done.append("the rest")
    assert done
    assert "still removing what run abcdef has; this ends by itself" in capsys.readouterr().err
    assert signal.getsignal(number) is before


def test_another_thread_works_without(capsys: pytest.CaptureFixture[str]) -> None:
    done: list[str] = []

    def work() -> None:
        with uninterrupted("still removing"):
            done.append("the rest")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done
