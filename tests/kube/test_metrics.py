from harness.kube import metrics

PAGE = """\
# HELP scheduler_pending_pods Number of pending pods
# TYPE scheduler_pending_pods gauge
scheduler_pending_pods{queue="active"} 0
scheduler_pending_pods{queue="gated"} 2
scheduler_pending_pods_other{queue="gated"} 50
# TYPE attempts_total counter
attempts_total{profile="a",result="scheduled"} 3
attempts_total{profile="a",result="error"} 1
attempts_total{profile="b",result="error"} 7
# TYPE wait_seconds histogram
wait_seconds_bucket{le="0.1"} 1
wait_seconds_bucket{le="+Inf"} 4
wait_seconds_sum 2.5
wait_seconds_count 4
workqueue_adds_total{name="resource_claim"} 5
"""


def test_a_value_is_the_sum_of_what_the_labels_select() -> None:
    assert metrics.value(PAGE, "scheduler_pending_pods", queue="gated") == 2
    assert metrics.value(PAGE, "attempts_total", profile="a") == 4
    assert metrics.value(PAGE, "attempts_total") == 11
    assert metrics.value(PAGE, "wait_seconds_count") == 4
    assert metrics.value(PAGE, "workqueue_adds_total", name="resource_claim") == 5


def test_what_is_not_there_is_zero() -> None:
    assert metrics.value(PAGE, "attempts_total", profile="c") == 0
    assert metrics.value(PAGE, "unknown") == 0


def test_series_keep_their_labels() -> None:
    assert [(s.labels["le"], s.value) for s in metrics.series(PAGE, "wait_seconds_bucket")] == [("0.1", 1), ("+Inf", 4)]
