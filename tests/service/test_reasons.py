"""What a service says is shown without the secrets that it was sent, however it encodes them."""

import html
import json
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest

from wms_sync.service.reasons import without_secrets

TOKEN = "sandbox-token"


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        # what a service makes of the token, and what is shown of it
        (TOKEN.upper(), "(withheld)"),
        (TOKEN.encode().hex().upper(), "(withheld)"),
        ("".join(f"%{byte:02X}" for byte in TOKEN.encode()), "(withheld)"),
        ("a=1%26b=sandbox%252Dtoken", "a=1&b=(withheld)"),
        ("sandbox\\u002dtoken", "(withheld)"),
        ("sandbox\\\\x2Dtoken", "(withheld)"),
        ("sandbox&#45;token and &amp;#x2d;", "(withheld) and -"),
        (b64encode(TOKEN.encode()).decode(), None),
        *((b64encode(bytes(before) + TOKEN.encode()).decode(), None) for before in range(1, 6)),
        (urlsafe_b64encode(b"Bearer sandbox-token").decode().rstrip("="), None),
        (quote(b64encode(b"me:sandbox-token?").decode()), None),
        ("100% of a%20b, sandbox token", "100% of a%20b, sandbox token"),
    ],
)
def test_no_encoding_of_a_secret_is_shown(shown, text):
    found = without_secrets(shown, frozenset({TOKEN}))
    assert found == text or (text is None and "(withheld)" in found), found


@pytest.mark.parametrize("secret", ["a/b+c%41\\d", "k\u00e9y&co"])
def test_a_secret_of_odd_letters_is_found(secret):
    for shown in (secret, quote(secret, safe=""), json.dumps(secret), html.escape(secret), secret.encode().hex()):
        assert secret not in without_secrets(shown, frozenset({secret}))
        assert "(withheld)" in without_secrets(shown, frozenset({secret}))
