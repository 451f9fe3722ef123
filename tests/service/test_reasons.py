"""What a service says is shown without the secrets that it was sent, however it encodes them."""

import html
import json
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest

from wms_sync.service.reasons import without_secrets

TOKEN = "sandbox-token"


@pytest.mark.parametrize(
    ("secret", "shown", "text"),
    [
        # what a service makes of a secret, and what is shown of it; None: its stand-in somewhere
        (TOKEN, TOKEN.upper(), "(withheld)"),
        (TOKEN, TOKEN.encode().hex().upper(), "(withheld)"),
        (TOKEN, "".join(f"%{byte:02X}" for byte in TOKEN.encode()), "(withheld)"),
        (TOKEN, "a=1%26b=sandbox%252Dtoken", "a=1&b=(withheld)"),
        (TOKEN, "sandbox\\u002dtoken", "(withheld)"),
        (TOKEN, "sandbox\\\\x2Dtoken", "(withheld)"),
        (TOKEN, "sandbox&#45;token and &amp;#x2d;", "(withheld) and -"),
        (TOKEN, b64encode(TOKEN.encode()).decode(), None),
        *((TOKEN, b64encode(bytes(before) + TOKEN.encode()).decode(), None) for before in range(1, 6)),
        (TOKEN, urlsafe_b64encode(b"Bearer sandbox-token").decode().rstrip("="), None),
        (TOKEN, quote(b64encode(b"me:sandbox-token?").decode()), None),
        (TOKEN, "100% of a%20b, sandbox token", "100% of a%20b, sandbox token"),
        *(
            (secret, shown, None)
            for secret in ("a/b+c%41\\d", "k\u00e9y&co")
            for shown in (
                secret,
                quote(secret, safe=""),
                json.dumps(secret),
                html.escape(secret),
                secret.encode().hex(),
            )
        ),
    ],
)
def test_no_encoding_of_a_secret_is_shown(secret, shown, text):
    found = without_secrets(shown, frozenset({secret}))
    assert found == text or (text is None and "(withheld)" in found), found
    assert secret not in found
