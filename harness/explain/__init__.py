"""Why a Pod is pending, evicted, unbound: what reading the cluster's objects can tell.

`snapshot` reads; everything else is a pure function from a snapshot to findings; `render` shows them.
"""

from harness.explain.explainer import FORMS, Explainer, Subject, explain
from harness.explain.model import Explanation, Finding
from harness.explain.snapshot import Snapshot

__all__ = ["FORMS", "Explainer", "Explanation", "Finding", "Snapshot", "Subject", "explain"]
