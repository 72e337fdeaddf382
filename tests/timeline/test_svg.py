"""From lanes to a picture."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from harness.timeline import Lane, Moment, Source, Span, State, Timeline, svg

SVG = "{http://www.w3.org/2000/svg}"


def timeline(*moments: Moment, length: float = 10.0, name: str = "p") -> Timeline:
    lane = Lane("Pod", name, (Span(0, length / 2, State.PENDING), Span(length / 2, length, State.RUNNING)), moments)
    return Timeline("2026-03-02T09:14:00+00:00", length, (lane,))


def texts(drawn: Timeline) -> list[str]:
    return ["".join(each.itertext()) for each in ElementTree.fromstring(svg.document(drawn)).iter(f"{SVG}text")]


def test_document_is_xml_without_script() -> None:
    root = ElementTree.fromstring(svg.document(timeline(Moment(1, "bound", Source.CLUSTER))))
    assert root.tag == f"{SVG}svg"
    assert not list(root.iter(f"{SVG}script"))


def test_cluster_is_taken_for_no_markup() -> None:
    hostile = timeline(Moment(1, "bound", Source.CLUSTER, "<script>"), name='<p>"&')
    assert 'Pod <p>"&' in texts(hostile)
    assert "<script>" not in svg.inline(hostile)


def test_what_has_no_lane_is_told() -> None:
    assert "and 7 more that have no lane here" in texts(replace(timeline(), omitted=7))


def test_sources_have_different_shapes_and_a_legend() -> None:
    both = timeline(Moment(1, "created", Source.OBSERVED), Moment(2, "bound", Source.CLUSTER))
    one = timeline(Moment(2, "bound", Source.CLUSTER))
    classes = [each.get("class") for each in ElementTree.fromstring(svg.document(both)).iter()]
    assert classes.count("observed") == classes.count("cluster") == 2  # in the lane, in the legend
    assert "observed" not in [each.get("class") for each in ElementTree.fromstring(svg.document(one)).iter()]


def test_labels_do_not_overlap() -> None:
    crowd = timeline(*(Moment(9 + number / 100, f"happened-{number}", Source.CLUSTER) for number in range(6)))
    root = ElementTree.fromstring(svg.document(crowd))
    labels = [each for each in root.iter(f"{SVG}text") if (each.text or "").startswith("happened")]
    assert len(labels) == 6
    assert len({each.get("y") for each in labels}) == 6


def test_what_happens_often_has_one_label() -> None:
    often = timeline(*(Moment(number, "prepare failed", Source.CLUSTER) for number in range(1, 9)))
    assert [text for text in texts(often) if "failed" in text] == ["prepare failed x8 1.00 s"]


@pytest.mark.parametrize("length", [0.001, 0.4, 9, 59, 3600, 86400 * 30])
def test_every_length_has_a_few_ticks(length: float) -> None:
    ticks = [text for text in texts(timeline(length=length)) if text == "0" or text[0].isdigit()]
    assert 2 <= len(ticks) <= 12
    assert len(set(ticks)) == len(ticks)
