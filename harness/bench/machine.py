"""The machine, as far as it explains numbers."""

import os
import platform
from pathlib import Path

import psutil

from harness.bench.model import Machine


def describe() -> Machine:
    """The machine we run on, now."""
    return Machine(
        system=f"{platform.system()} {platform.release()}",
        processor=_processor(),
        cpus=os.cpu_count() or 0,
        memory_gib=round(psutil.virtual_memory().total / 2**30, 1),
        load=round(os.getloadavg()[0], 2),
    )


def _processor() -> str:
    """Its model where the system tells one, else its architecture."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text(encoding="utf-8").splitlines() if facts.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
