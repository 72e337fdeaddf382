import pytest

from harness.clusters.local.cri import cri_pb2
from harness.clusters.local.cri.images import ImageService
from harness.clusters.local.cri.rpc import python_name
from harness.clusters.local.cri.runtime import RuntimeService


@pytest.mark.parametrize("service", [RuntimeService, ImageService])
def test_every_call_of_the_proto_is_answered(service: type) -> None:
    calls = cri_pb2.DESCRIPTOR.services_by_name[service.__name__].methods
    assert [call.name for call in calls if not hasattr(service, python_name(call.name))] == []
