"""The generated code belongs to the .proto files."""

import re
from pathlib import Path

import fake_driver.protos
from fake_driver.protos.generate import generate

HERE = Path(fake_driver.protos.__file__).parent


def without_versions(text: str) -> str:
    """Other versions of the generator write other version numbers."""
    return re.sub(r"Protobuf Python Version: .*|ValidateProtobufRuntimeVersion\([^)]*\)", "", text)


def test_generated_code_is_up_to_date(tmp_path: Path) -> None:
    generate(tmp_path)
    for fresh in sorted((tmp_path / "fake_driver" / "protos").iterdir()):
        kept = HERE / fresh.name
        assert without_versions(kept.read_text()) == without_versions(fresh.read_text()), (
            f"{fresh.name} is out of date: run python -m fake_driver.protos.generate"
        )
