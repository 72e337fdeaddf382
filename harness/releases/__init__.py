"""What each supported Kubernetes release has: gates, API versions, fields. The only place that knows versions.

The facts are files of data, one per minor release; `get` reads them. Everything else asks the `Release` it is given.
"""

from harness.releases.agreement import disagreements
from harness.releases.catalog import emulate, get, minors_with_gate, nearest_gates, supported
from harness.releases.draft import Draft, Told, draft
from harness.releases.news import news
from harness.releases.release import EMULATED_BY, Gate, Release

__all__ = [
    "EMULATED_BY",
    "Draft",
    "Gate",
    "Release",
    "Told",
    "disagreements",
    "draft",
    "emulate",
    "get",
    "minors_with_gate",
    "nearest_gates",
    "news",
    "supported",
]
