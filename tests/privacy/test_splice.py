"""Removing persons by replacing bytes: the same outcome as decoding the whole page, and no other byte is touched."""

from __future__ import annotations

import json
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from tests.privacy.test_scrub import large_page
from wms_sync.loose_json import loosely
from wms_sync.privacy.scrub import scrub, without_persons
from wms_sync.privacy.splice import NotSpliceable, spliced

PAGES = 800
KEYS = (
    *("type", "type", "id", "country", "region", "street", "city", "code", "retailer", "note", "", "\u00e9", '"', "\\"),
    *("first_name", "email", "telephone", "custom_fields", "Order", "OrderAddress", "OrderAddressCandidate", "items"),
    *(
        "shipping_address",
        "address_candidates",
        "mark_for_location",
        "RetailerShipToLocation",
        "included",
        "address_id",
    ),
)
KINDS = (
    "Order",
    "OrderAddress",
    "OrderAddress",
    "OrderAddressCandidate",
    "RetailerShipToLocation",
    "Customer",
    "Brand",
)
SCALARS = (
    *("null", "true", "0", "-1", "12345678901234567890123", "1.50", "1e2", "1E400", '"OrderAddress"', '"email"', '""'),
    *(
        '"a\\"type\\":\\"OrderAddress"',
        '"\\u00e9\u00fc\\/"',
        '"{\\"email\\":1}"',
        '",\\"email\\":"',
        '"\\ud83d\\ude9a"',
    ),
)
ODD = ("NaN", '"\x01"', '"\\ud83d"', "[" * 40 + "]" * 40, '"\\\\u0065"')


class Writer:
    """Writes random JSON that is full of persons and of what looks like them."""

    def __init__(self, random: Random) -> None:
        self.pick = random.choice
        self.chance = lambda share: random.random() < share
        self.blanks = self.pick(["", "", " ", "\n  "])
        self.is_odd = self.chance(0.2)

    def page(self) -> str:
        members = [f'"{key}"{self.blank}:{self.value(3)}' for key in ("collection", "included", "meta")]
        return f"{{{self.blank}{','.join(members)}{self.blank}}}"

    @property
    def blank(self) -> str:
        return self.blanks if self.chance(0.5) else ""

    def value(self, levels: int) -> str:
        if self.is_odd and self.chance(0.02):
            return self.pick(ODD)
        if levels and self.chance(0.1):
            numbered = [f'{self.blank}"{number}"{self.blank}:{self.object(levels - 1)}' for number in (5, 7, 12)]
            return f"{{{','.join(numbered)}{self.blank}}}"
        if levels and self.chance(0.6):
            return self.object(levels - 1)
        if levels and self.chance(0.6):
            return self.list(levels - 1)
        if self.chance(0.3):
            id_ = self.pick(["5", "-1", "1.0"])
            return f'{{"type"{self.blank}:{self.blank}"{self.pick(KINDS)}",{self.blank}"id":{id_}}}'
        return self.blank + self.pick(SCALARS) + self.blank

    def object(self, levels: int) -> str:
        keys = [self.pick(KEYS) for _ in range(self.pick(range(5)))]
        if not (self.is_odd and self.chance(0.3)):
            keys = list(dict.fromkeys(keys))
        members = [f"{self.blank}{self.key(key)}{self.blank}:{self.of(key, levels)}" for key in keys]
        return f"{{{','.join(members)}{self.blank}}}"

    def key(self, key: str) -> str:
        written = json.dumps(key, ensure_ascii=self.chance(0.5))
        if key and self.is_odd and self.chance(0.05):
            return f'"\\u{ord(key[0]):04x}{written[2:]}' if written[1] != "\\" else written
        return written

    def of(self, key: str, levels: int) -> str:
        if key == "type" and self.chance(0.8):
            return f'{self.blank}"{self.pick(KINDS)}"'
        if key == "id" and self.chance(0.8):
            return "7"
        return self.value(levels)

    def list(self, levels: int) -> str:
        one = self.value(levels)
        items = [one if self.chance(0.3) else self.value(levels) for _ in range(self.pick([0, 1, 2, 3, 40]))]
        return f"[{f'{self.blank},{self.blank}'.join(items)}]"


def read(content: bytes) -> Any:
    return loosely(content.decode("utf-8-sig"), parse_float=Decimal)


def outcome(page: Any) -> str:
    return json.dumps(page, default=lambda number: float(str(number)), sort_keys=True)


def test_the_outcome_is_that_of_decoding_the_whole_page():
    random = Random(7)
    spliceable = changed = 0
    for _ in range(PAGES):
        content = Writer(random).page().encode()
        page = read(content)
        has_persons = scrub(page)
        clean = without_persons(content)
        assert outcome(read(clean or content)) == outcome(page), content
        try:
            spliceable += spliced(content) is not None
        except NotSpliceable:
            continue
        changed += has_persons
        assert (clean is not None) == has_persons, content
    assert changed == spliceable > PAGES / 4, "most pages are spliced"


def with_telephones(content: bytes) -> bytes:
    """A telephone number in an address, in two orders, in a shipment, and in a kind that is new."""
    personal = b'"telephone" : "J\\u00e4ne\\/",'
    for begins, count in (
        (b'"OrderAddress":[{', 1),
        (b'{"type":"Order",', 2),
        (b'"collection":[{"type":"Shipment",', 1),
    ):
        content = content.replace(begins, begins + personal, count)
    return content.replace(b'"included":{', b'"included":{"Customer":[{' + personal + b'"type":"Customer"}],', 1)


def test_every_byte_of_a_large_page_stays_but_those_of_persons():
    page = large_page()
    content = with_telephones(page)
    assert content.count(b"telephone") == 5
    clean = without_persons(content)
    assert clean == page.replace(b'"included":{', b'"included":{"Customer":[{"type":"Customer"}],', 1)


AS_SENT = b"""\
{ "collection" : [ {"id":1 , "b\\u00e9":1.50e+01,"b\\u00e9":2,"z":"\\/\\ud83d\\ude9a" ,"a" :12345678901234567890.10}\t,
  %s ],
  "included":{"OrderAddress":[%s], "Order":[ {"id": 3.0,"shipping_address":%s } , {"id":4}]} , "has_more":false}
"""
SAME = b"5"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ((b'{"email":1}', b"", SAME), (b"{}", b"", SAME)),
        ((b'{"id" :7,"last_name" : "J"} ', b"", SAME), (b'{"id" :7} ', b"", SAME)),
        ((b'{"last_name" : "J" , "id" :7}', b"", SAME), (b'{ "id" :7}', b"", SAME)),
        ((b'[[{"a":{"by": [{"email":1}]}, "c":1e0 }]]', b"", SAME), (b'[[{"a":{"by": [{}]}, "c":1e0 }]]', b"", SAME)),
        ((SAME, b' {"city":"J" ,"country":"\\/S" } ', SAME), (SAME, b' {"country":"\\/S" } ', SAME)),
        ((SAME, b'{"id":1}, {"country":[1], "id":2}', SAME), (SAME, b'{"id":1}, { "id":2}', SAME)),
        ((SAME, b"", b'["J", {"id" : 1,"x":2},"K"]'), (SAME, b"", b'[{"id" : 1}]')),
        ((SAME, b"", b'"J"'), (SAME, b"", b"null")),
    ],
)
def test_numbers_spaces_escapes_and_repeated_keys_stay_as_sent(sent, kept):
    assert without_persons(AS_SENT % sent) == AS_SENT % kept


@pytest.mark.parametrize(
    "odd",
    [
        b'{"email":1,"email":2}',
        b'{"a":1,"email":"J","a":1}',
        b'{"a":{"email":"J"},"a":0}',
        b'{"\\u0065mail":1}',
        b'{"email":1,"a":"\xff"}',
        b'{"email":1,"a":NaN}',
        b'{"a":' * 50 + b'{"email":1}' + b"}" * 50,
        b'{"a":' * 5000 + b'{"email":1}' + b"}" * 5000,
    ],
    ids=range(8),
)
def test_what_cannot_be_shown_to_be_the_same_is_decoded_as_a_whole(odd):
    content = AS_SENT % (odd, b"", SAME)
    with pytest.raises(NotSpliceable):
        spliced(content)
    clean = without_persons(content)
    assert clean is not None
    assert not any(key in clean for key in (b"email", b"J"))


@pytest.mark.parametrize(
    "broken", [b"", b"[]", b'\xef\xbb\xbf{"a":{"email":1}}', b'{"a":{"email":1}', b'{"a":{"email":1}} {}']
)
def test_what_is_no_whole_object_is_not_spliced(broken):
    with pytest.raises(NotSpliceable):
        spliced(broken)
