import stat
from pathlib import Path

from harness.clusters.private import write_private


def test_who_reads_a_file_while_it_is_written_anew_sees_all_of_it(tmp_path: Path) -> None:
    file = write_private(tmp_path / "f", "old")
    with file.open() as reader:
        write_private(file, "new")
        assert reader.read() == "old"
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["f"]
