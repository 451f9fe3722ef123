"""Specification 5.1: a bearer token before anything else."""

import pytest

from wms_sandbox.app import ADVANCE, SHIPMENTS, STATUS


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer wrong", "bearer a-token", "Bearer  a-token", "Basic a-token", "a-token"],
)
def test_anything_but_the_token_is_unauthorized(service, authorization: str | None):
    headers = {} if authorization is None else {"Authorization": authorization}
    with service.stranger() as client:
        for path in (SHIPMENTS, f"{SHIPMENTS}?limit=wrong", STATUS, ADVANCE, "/nowhere"):
            assert client.get(path, headers=headers).status_code == 401


def test_status_tells_whether_the_token_is_valid(service):
    assert service.client.get(STATUS).status_code == 200


def test_unknown_path_is_not_found(service):
    assert service.client.get("/api/global/v1/shipping/shipment").status_code == 404


def test_other_methods_are_not_allowed(service):
    assert service.client.post(SHIPMENTS).status_code == 405
    assert service.client.get(ADVANCE).status_code == 405
