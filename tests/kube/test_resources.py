import pytest

from harness.kube.resources import reference, resource


def test_paths_of_core_and_named_groups() -> None:
    assert resource("Pod").path(namespace="ns", name="p") == "/api/v1/namespaces/ns/pods/p"
    assert resource("Pod").path() == "/api/v1/pods"
    assert resource("DeviceClass").path(namespace="ns", name="k") == "/apis/resource.k8s.io/v1/deviceclasses/k"
    assert (
        resource("DeviceTaintRule").path("resource.k8s.io/v1beta2") == "/apis/resource.k8s.io/v1beta2/devicetaintrules"
    )


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ValueError, match="'Pdo'"):
        resource("Pdo")


def test_an_object_is_named_as_people_write_it() -> None:
    assert reference({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}}) == "Pod ns/p"
    assert reference({"kind": "Node", "metadata": {"name": "n"}}) == "Node n"
