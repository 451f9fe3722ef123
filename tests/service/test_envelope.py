"""What is taken of a ``next``: a whole number and, to be told, a host. Anything else of it stays where it is."""

import json

import pytest

from wms_sync.service.envelope import change_times, page_cursor, read_envelope
from wms_sync.service.errors import NotAList, ProtocolError

LONGEST = "x" * 65_536


FOLLOWED: list[object] = [
    "https://acme.example.com/api/global/v1/shipping/shipments?limit=5&cursor_start=8",
    "http://user:password@elsewhere:99999/?cursor_start=8&filter=a",
    "//elsewhere?cursor_start=8",
    "/api/global/v1/shipping/shipments?cursor_start=8#top",
    "v1/shipping/shipments?limit=5&amp;cursor_start=8",
    "?cursor_start=8",
    "cursor_start=8&limit=5",
    "http://[no-address?cursor_start=8",
    "https://host:port/?cursor_start=8",
    "\x00\r\n?cursor_start=8",
    "\ud800?cursor_start=8",
    f"/{LONGEST}?cursor_start=8",
    "?cursor_start=1&cursor_start=8",
    "8",
    8,
    8.0,
]
NOT_FOLLOWED: list[object] = [
    None,
    "",
    "/n",
    "?cursor_start=",
    "?cursor_start=8x",
    "?cursor_start=8.5",
    "?cursor_start=-8",
    "?cursor_start=\N{ARABIC-INDIC DIGIT EIGHT}",
    "?cursor_start=99999999999999999999",
    "?cursor_start=9223372036854775808",
    "?other_cursor_start=8",
    "?cursor_end=8",
    LONGEST,
    -8,
    True,
    [8],
    {"cursor_start": 8},
]


@pytest.mark.parametrize(
    ("stated", "cursor"), [*((stated, 8) for stated in FOLLOWED), *((stated, None) for stated in NOT_FOLLOWED)]
)
def test_a_whole_number_in_any_next_is_a_page_cursor(stated, cursor):
    assert page_cursor(stated) == cursor


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize(
    ("stated", "in_meta", "cursor"),
    [
        ("?cursor_start=8", 9, 8),
        ("/n", 9, 9),
        (None, "9", 9),
        ("\ud800", 9, 9),
        ({"href": "?cursor_start=8"}, 9, 9),
        ("?cursor_start=8", ["what"], 8),
        ("\ud800?cursor_start=8", None, 8),
        ("/n", None, None),
    ],
)
def test_the_cursor_of_meta_counts_without_next(stated, in_meta, cursor, watched):
    page = {"collection": [{"id": 1}], "has_more": True, "next": stated, "meta": {"cursor_start": in_meta}}
    assert read_envelope(json.dumps(page).encode(), watched=watched).next == cursor


@pytest.mark.parametrize("watched", [False, True])
def test_a_page_without_an_envelope_is_refused(watched):
    """Also where it is searched for persons at the same time; without ``next`` and ``meta`` it has no page cursor."""
    for content, error in ((b'{"status": "maintenance"}', NotAList), (b'{"collection": {}}', ProtocolError)):
        with pytest.raises(error):
            read_envelope(content, watched=watched)
    assert read_envelope(b'{"collection": [], "has_more": false}', watched=watched).next is None


@pytest.mark.parametrize(
    "content",
    [
        b'{"collection": [{"id": 1, "updated_at": "a", "weight": NaN}, null, {"id": "2"}], "has_more": false}',
        b'{"collection": {"0": {"id": 1, "updated_at": "a"}, "7": {"id": 2, "updated_at": ""}}, "has_more": false}',
    ],
)
def test_times_of_changes_are_read_from_every_page_that_is_landed(content):
    assert (read_envelope(content).ids, change_times(content)) == ((1, 2), {1: "a", 2: None})
