"""What the waits of a scenario tell its timeline."""

from dataclasses import dataclass

from harness.evidence import Recorder
from harness.explain import Explainer
from harness.kube import Client, Obj


@dataclass(frozen=True)
class ExplainingObserver:
    """Records each observation with what explains it: a Pod's node, devices and group, or why it is pending."""

    client: Client
    recorder: Recorder
    explainer: Explainer

    def observed(self, text: str, obj: Obj | None = None, seconds: float | None = None) -> None:
        """A wait ended: see `harness.kube.waits.Observer`."""
        remark = self.explainer.remark(self.client, obj) if obj else ""
        self.recorder.observed(f"{text}; {remark}" if remark else text, obj, seconds)
