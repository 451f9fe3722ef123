"""Creating location tags (specification 2.1, 4.1, 7, 8), and deleting them."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.sandbox.conftest import Service, conflicts, offences
from wms_sandbox.app import DELETE_TAG, LOCATION_TAGS
from wms_sandbox.definitions import PALETTE

TAG = {"name": "Cold", "color": "blue3"}
ALWAYS = ["type", "id", "name", "description", "color", "sort_order", "is_deleted"]


@pytest.fixture(scope="module")
def tags(start: Callable[..., Service]) -> Service:
    return start(shipments=0, families=20)


@pytest.fixture
def fresh(start: Callable[..., Service]) -> Service:
    return start(shipments=0, families=20)


def test_a_tag_is_created_with_its_defaults(fresh: Service):
    response = fresh.post(LOCATION_TAGS, TAG)
    assert response.status_code == 201
    assert response.json() == {
        "resource": {
            "type": "LocationTag",
            "id": 1,
            "name": "Cold",
            "description": None,
            "color": "blue3",
            "sort_order": 1,
            "is_deleted": False,
        }
    }
    moment = "2025-06-01T00:00:00Z"
    assert fresh.sandbox.location_tags() == [
        response.json()["resource"] | {"created_at": moment, "updated_at": moment},
    ]


def test_ids_rise_and_the_order_of_creation_stays(fresh: Service):
    ids = [fresh.post(LOCATION_TAGS, TAG | {"name": name}).json()["resource"]["id"] for name in "cab"]
    assert ids == sorted(set(ids))
    assert [tag["name"] for tag in fresh.sandbox.location_tags()] == ["c", "a", "b"]


def test_the_palette_has_nine_families_of_five_shades():
    assert len(set(PALETTE)) == 45
    assert {"black1", "brown2", "gray3", "green4", "orange5", "purple1", "red2", "blue5"} < set(PALETTE)
    assert PALETTE[-1] == "yellow5"


@pytest.mark.parametrize("color", PALETTE)
def test_every_color_is_taken(tags: Service, color: str):
    assert tags.post(LOCATION_TAGS, {"name": f"in {color}", "color": color}).status_code == 201


@pytest.mark.parametrize(
    "change",
    [
        {"name": "x"},
        {"name": "n" * 230},
        {"name": "ü" * 230},
        {"name": "👩‍👩‍👧‍👦" * 32},
        {"description": ""},
        {"description": None},
        {"description": "日" * 255},
        {"sort_order": -2_147_483_648},
        {"sort_order": 2_147_483_647},
        {"sort_order": 0},
        {"sort_order": 7.0},
    ],
)
def test_limits_are_within(fresh: Service, change: dict[str, Any]):
    response = fresh.post(LOCATION_TAGS, TAG | change)
    assert response.status_code == 201, response.text
    assert response.json()["resource"] | change == response.json()["resource"]


def each(name: str, *values: Any) -> list[tuple[dict[str, Any], str]]:
    """These wrong values of one key."""
    return [({name: value}, name) for value in values]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "name"),
    ({"name": " \t\n"}, "name"),
    ({"name": "<b></b>"}, "name"),
    ({"name": "n" * 231}, "name"),
    ({"name": "ü" * 231}, "name"),
    *each("name", None, 5, True, [], {}),
    *each("color", "blue0", "blue6", "blue", "BLUE3", "pink1", "", None, 3, "blue3 "),
    ({"description": "d" * 256}, "description"),
    *each("description", 5, False, [], {}),
    ({"sort_order": -2_147_483_649}, "sort_order"),
    ({"sort_order": 2_147_483_648}, "sort_order"),
    *each("sort_order", "1", 1.5, None, True, 10**400),
    *(({name: value}, name) for name, value in {"id": 5, "type": "LocationTag", "is_deleted": False}.items()),
    ({"created_at": "2025-01-01T00:00:00Z"}, "created_at"),
    ({"updated_at": "2025-01-01T00:00:00Z"}, "updated_at"),
    ({"colour": "blue1"}, "colour"),
    ({"": 1}, ""),
]


@pytest.mark.parametrize(("change", "key"), WRONG, ids=str)
def test_what_breaks_a_rule_is_refused_and_named(tags: Service, change: dict[str, Any], key: str):
    before = tags.sandbox.location_tags()
    assert list(offences(tags.post(LOCATION_TAGS, TAG | {"name": "never"} | change))) == [key]
    assert tags.sandbox.location_tags() == before


@pytest.mark.parametrize("missing", ["name", "color"])
def test_required_fields(tags: Service, missing: str):
    body = {name: value for name, value in TAG.items() if name != missing}
    assert offences(tags.post(LOCATION_TAGS, body)) == {missing: "Required."}


def test_all_offences_are_reported_at_once(tags: Service):
    body = {"color": "pink", "description": "d" * 256, "sort_order": 2**31, "is_deleted": True, "note": 1}
    found = offences(tags.post(LOCATION_TAGS, body, params={"fields": "colour"}))
    assert set(found) == {"name", "color", "description", "sort_order", "is_deleted", "note", "fields"}
    assert found["description"] == "At most 255 characters are allowed."
    assert found["sort_order"] == "At most 2147483647 is allowed."


@pytest.mark.parametrize("body", [[], [TAG], "text", 5, None, True])
def test_a_body_must_be_an_object(tags: Service, body: Any):
    assert offences(tags.client.post(LOCATION_TAGS, json=body) if body is not None else _null(tags)) == {
        "body": "An object is expected."
    }


def _null(service: Service) -> Any:
    return service.client.post(LOCATION_TAGS, content=b"null", headers={"Content-Type": "application/json"})


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("  Cold  ", "Cold"),
        ("<b>Cold</b> room<br/>", "Cold room"),
        ("\t<p> Frozen </p>\n", "Frozen"),
        ("<!-- <b>note</b> -->Dry", "Dry"),
        ("1 < 2 > 0", "1 < 2 > 0"),
        ("<b>" + "n" * 230 + "</b>", "n" * 230),
        (" " * 300 + "far", "far"),
    ],
)
def test_names_are_stripped_and_trimmed_before_they_are_measured(fresh: Service, sent: str, stored: str):
    assert fresh.post(LOCATION_TAGS, TAG | {"name": sent}).json()["resource"]["name"] == stored


@pytest.mark.parametrize("again", ["Cold", "  Cold ", "<i>Cold</i>"])
def test_names_are_unique_among_live_tags(fresh: Service, again: str):
    fresh.post(LOCATION_TAGS, TAG)
    refusal = conflicts(fresh.post(LOCATION_TAGS, TAG | {"name": again, "color": "red1"}))
    assert list(refusal) == ["name"]
    assert "already in use" in refusal["name"]
    assert len(fresh.sandbox.location_tags()) == 1


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        (None, ALWAYS),
        ("basic", ALWAYS),
        ("all", [*ALWAYS, "created_at", "updated_at"]),
        ("basic,created_at", [*ALWAYS, "created_at"]),
        ("updated_at", ["type", "id", "updated_at"]),
        ("color,name", ["type", "id", "name", "color"]),
    ],
)
def test_fields_of_the_answer(fresh: Service, fields: str | None, shown: list[str]):
    response = fresh.post(LOCATION_TAGS, TAG, params={"fields": fields} if fields else {})
    assert list(response.json()["resource"]) == shown


@pytest.mark.parametrize(
    ("parameters", "key"),
    [
        ({"fields": "id"}, "fields"),
        ({"fields": ""}, "fields"),
        ({"fields": "name,"}, "fields"),
        ({"page": "1"}, "page"),
    ],
)
def test_wrong_parameters_are_refused_and_nothing_is_done(fresh: Service, parameters: dict[str, str], key: str):
    assert list(offences(fresh.post(LOCATION_TAGS, TAG, params=parameters))) == [key]
    assert fresh.sandbox.location_tags() == []


def test_a_deleted_tag_stays_under_a_name_that_tells_so(fresh: Service):
    identity = fresh.post(LOCATION_TAGS, TAG).json()["resource"]["id"]
    fresh.sandbox.advance(seconds=60)
    fresh.sandbox.delete_location_tag(identity)
    (tag,) = fresh.sandbox.location_tags()
    assert tag["name"] == f"Cold (Deleted ID: {identity})"
    assert tag["is_deleted"] is True
    assert (tag["created_at"], tag["updated_at"]) == ("2025-06-01T00:00:00Z", "2025-06-01T00:01:00Z")


def test_the_name_of_a_deleted_tag_can_be_used_again(fresh: Service):
    first = fresh.post(LOCATION_TAGS, TAG | {"name": "n" * 230}).json()["resource"]["id"]
    assert fresh.post(LOCATION_TAGS, TAG | {"name": "n" * 230}).status_code == 422
    assert fresh.client.post(DELETE_TAG, json={"id": first}).status_code == 200
    assert fresh.post(LOCATION_TAGS, TAG | {"name": "n" * 230}).status_code == 201
    assert fresh.post(LOCATION_TAGS, TAG | {"name": "n" * 230}).status_code == 422
    assert max(len(tag["name"]) for tag in fresh.sandbox.location_tags()) <= 255


def test_only_live_tags_can_be_deleted(fresh: Service):
    fresh.post(LOCATION_TAGS, TAG)
    fresh.sandbox.delete_location_tag(1)
    for identity in (1, 2, 0):
        with pytest.raises(LookupError, match="no live location tag"):
            fresh.sandbox.delete_location_tag(identity)
    assert fresh.client.post(DELETE_TAG, json={"id": 1}).status_code == 404
    assert fresh.client.post(DELETE_TAG, json={"id": "1"}).status_code == 400
    assert fresh.client.post(DELETE_TAG, content=b"{").status_code == 400
