"""What is kept of a scenario: its timeline, and of a failed one everything that can explain it."""

from harness.evidence.keep import keep
from harness.evidence.recorder import Lack, Observation, Recorder, name_of
from harness.evidence.sightings import Sighting, Sightings

__all__ = ["Lack", "Observation", "Recorder", "Sighting", "Sightings", "keep", "name_of"]
