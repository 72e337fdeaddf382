from harness.kube.errors import ApiError

STATUS = b"""{"kind": "Status", "code": 422, "reason": "Invalid", "message": "Pod is invalid", "details": {"causes":
 [{"field": "spec.x", "reason": "FieldValueInvalid", "message": "bad"}]}}"""


def test_a_status_is_told_with_its_causes() -> None:
    error = ApiError.from_body("POST /pods", 422, STATUS)
    assert str(error) == "POST /pods: 422 Invalid: Pod is invalid"
    assert [(cause.field, cause.reason) for cause in error.causes] == [("spec.x", "FieldValueInvalid")]


def test_what_is_no_status_is_told_as_it_is() -> None:
    assert str(ApiError.from_body("GET /readyz", 503, b"starting\n")) == "GET /readyz: 503 Unknown: starting"
    assert ApiError.from_body("GET /", 404, b"[]").not_found
