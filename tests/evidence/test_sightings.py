"""Which versions of which objects are kept."""

from typing import Any

from harness.evidence import Sightings


def obj(name: str, version: int, kind: str = "Pod") -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}}


def kept(sightings: Sightings) -> list[tuple[str, str, bool]]:
    return [(s.obj["metadata"]["name"], s.obj["metadata"]["resourceVersion"], s.gone) for s in sightings.all()]


def test_first_arrival_of_each_version_is_kept() -> None:
    sightings = Sightings(lambda _: True)
    for seen in (obj("a", 1), obj("a", 2), obj("a", 1)):
        sightings.saw(seen)
    sightings.saw(obj("a", 2), read=True)
    assert kept(sightings) == [("a", "1", False), ("a", "2", False)]
    assert not any(seen.read for seen in sightings.all())


def test_others_objects_and_other_kinds_are_not_kept() -> None:
    sightings = Sightings(lambda seen: seen["metadata"]["name"] != "other")
    for seen in (obj("other", 1), obj("a", 1, "Node"), {"kind": "Status"}):
        sightings.saw(seen)
    assert kept(sightings) == []


def test_what_is_missing_is_gone() -> None:
    sightings = Sightings(lambda _: True)
    sightings.saw(obj("a", 1))
    sightings.saw(obj("b", 2))
    sightings.missing("Pod", [obj("b", 2)])
    sightings.saw(obj("a", 3), gone=True)
    assert kept(sightings) == [("a", "1", False), ("b", "2", False), ("a", "1", True)]
