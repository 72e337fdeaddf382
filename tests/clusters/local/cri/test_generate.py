from pathlib import Path

from harness.clusters.local.cri.generate import GENERATED, ROOT, generate


def test_generated_modules_are_current(tmp_path: Path) -> None:
    generate(tmp_path)
    for module in GENERATED:
        assert (tmp_path / module).read_text() == (ROOT / module).read_text(), "run python -m …cri.generate"
