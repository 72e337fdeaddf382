"""What a client may do, asked of the API server itself."""

from harness.kube.client import Client


def may(client: Client, verb: str, resource: str, *, group: str = "", namespace: str | None = None) -> bool:
    """Whether the client may do this now; `resource` may name a subresource (`pods/log`). Raises ApiError."""
    name, _, subresource = resource.partition("/")
    asked = {"verb": verb, "group": group, "resource": name, "subresource": subresource}
    if namespace is not None:
        asked["namespace"] = namespace
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": asked},
    }
    answer = client.raw("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=review)
    return bool(answer["status"]["allowed"])
