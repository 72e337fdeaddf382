"""Devices and Pods on one time axis."""

from harness.timeline.collect import collect
from harness.timeline.facts import Call
from harness.timeline.live import read
from harness.timeline.model import Lane, Moment, Source, Span, State, Timeline

__all__ = ["Call", "Lane", "Moment", "Source", "Span", "State", "Timeline", "collect", "read"]
