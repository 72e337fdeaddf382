from harness import releases


def test_news_of_a_release() -> None:
    told = releases.news("1.36", "1.37")
    assert "PodGroup.spec.podGroupTemplateRef.workload → PodGroup.spec.workloadRef" in told
    assert "PodGroup: scheduling.k8s.io/v1alpha2 → scheduling.k8s.io/v1beta1" in told
    assert "gate GenericWorkload: alpha, off → beta, off" in told
    assert "gate GangScheduling: alpha, off → gone" in told
    assert "gate CompositePodGroup: not there → alpha, off" in told


def test_names_of_releases_between_are_told_too() -> None:
    told = releases.news("1.35", "1.37")
    assert "Pod.spec.workloadRef → Pod.spec.schedulingGroup" in told
    assert "PodGroup condition PodGroupScheduled → PodGroup condition PodGroupInitiallyScheduled" in told


def test_nothing_is_told_backwards_or_of_others() -> None:
    for old, new in (("1.37", "1.36"), ("1.37", "1.37"), ("1.12", "1.37"), ("1.36 emulated by 1.37", "1.37")):
        assert releases.news(old, new) == ()
