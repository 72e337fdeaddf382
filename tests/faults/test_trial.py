"""When a cluster counts as well again."""

from harness.faults.trial import _Look, _Recovery

WELL, ILL = _Look((), ()), _Look(("a node takes no Pods",), ())


def test_well_at_once_where_it_need_not_stay_so() -> None:
    looks = iter([ILL, WELL])
    recovery = _Recovery(lambda: next(looks), steady=0)
    assert [recovery.look(), recovery.look()] == [False, True]


def test_what_comes_back_begins_anew() -> None:
    looks = iter([WELL, ILL, WELL, WELL])
    recovery = _Recovery(lambda: next(looks), steady=1000)
    recovery.look()
    first = recovery.since
    assert not recovery.look()
    assert not recovery.look()
    assert recovery.since > first
    second = recovery.since
    assert not recovery.look()
    assert recovery.since == second
    assert recovery.awaited == "a node takes no Pods"
