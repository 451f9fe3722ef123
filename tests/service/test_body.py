"""Bodies as they come: whole or not at all, and never more of them in memory than the limit."""

import gzip
import random
import subprocess
import sys

import httpx
import pytest
import zstandard

from wms_sync.service.answers import body_of_error
from wms_sync.service.body import MAX_BYTES, receive, unpacked
from wms_sync.service.errors import ProtocolError, Unreachable
from wms_sync.service.reasons import problems_in

TEXT = b'{"collection": [' + b",".join(b'{"id": %d}' % number for number in range(20_000)) + b"]}"
PACKED = {"gzip": gzip.compress(TEXT), "zstd": zstandard.compress(TEXT), "identity": TEXT}
MEMBERS = gzip.compress(TEXT[:9999]) + gzip.compress(TEXT[9999:])
WIDE = zstandard.ZstdCompressor(
    compression_params=zstandard.ZstdCompressionParameters.from_level(3, window_log=27)
).compressobj()
WHOLE = {
    # a body and its encoding
    **{encoding: (raw, encoding) for encoding, raw in PACKED.items()},
    **{f"{encoding} in several members": (MEMBERS, encoding) for encoding in ("gzip", "x-gzip")},
}
DAMAGED = {
    # a body, its encoding, and what is said of it where that is something of its own
    **{
        f"{encoding}, cut at {kept}": (PACKED[encoding][:kept], encoding, None)
        for encoding in ("gzip", "zstd")
        for kept in (10, 1000, -1)
    },
    # what follows would land with the page without having been looked at
    **{
        f"{encoding}, and {what}": (PACKED[encoding] + more, encoding, "follow its end")
        for encoding in ("gzip", "zstd")
        for what, more in {"x": b"x", "100": bytes(100), "5000": bytes(5000), "more": PACKED["zstd"]}.items()
    },
    "a member of gzip, cut": (MEMBERS[:-9], "gzip", None),
    "zstd that needs too much memory": (WIDE.compress(TEXT) + WIDE.flush(), "zstd", "damaged"),
}


def answer(raw: bytes, encoding: str) -> httpx.Response:
    return httpx.Response(
        200,
        headers={"Content-Encoding": encoding},
        stream=httpx.ByteStream(raw),
        request=httpx.Request("GET", "https://acme.example.com"),
    )


@pytest.mark.parametrize(("raw", "encoding"), WHOLE.values(), ids=WHOLE)
def test_a_whole_body_up_to_the_limit_comes(raw, encoding):
    """The limit counts what is unpacked."""
    body = receive(answer(raw, encoding), largest=len(TEXT))
    assert body.content == unpacked(body.landed, body.suffix) == TEXT
    assert encoding == "identity" or body.landed == raw
    with pytest.raises(ProtocolError, match="WMS_PAGE_SIZE"):
        receive(answer(raw, encoding), largest=len(TEXT) - 1)


@pytest.mark.parametrize(("raw", "encoding", "says"), DAMAGED.values(), ids=DAMAGED)
def test_a_compressed_body_must_be_whole(raw, encoding, says):
    with pytest.raises(Unreachable, match=says):
        receive(answer(raw, encoding))


def test_members_of_gzip_may_have_any_size():
    """Thousands of empty ones were copied whole for each: a small answer took hours."""
    dice = random.Random(3)
    contents = [dice.randbytes(size) for size in (0, 3, 4096, 70_000, 0, 4095, 1) * 3] + [b""] * 5000
    members = b"".join(map(gzip.compress, contents))
    assert unpacked(members, "json.gz") == b"".join(contents)
    with pytest.raises(Unreachable):
        unpacked(members[: len(members) // 300], "json.gz")


BOMB = """
import gzip, io, re, sys, httpx, zstandard
from wms_sync.service.body import receive
from wms_sync.service.errors import ProtocolError

def most_memory():
    return int(re.search("VmHWM:[^0-9]*([0-9]+)", open("/proc/self/status").read())[1])

def packed(encoding):
    out = io.BytesIO()
    if encoding == "gzip":
        writer = gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1)
    else:
        writer = zstandard.ZstdCompressor().stream_writer(out, closefd=False)
    for _ in range(500):
        writer.write(bytes(1024 * 1024))
    writer.close()
    return out.getvalue()

raw = packed(sys.argv[1])
before = most_memory()
response = httpx.Response(200, headers={"Content-Encoding": sys.argv[1]}, stream=httpx.ByteStream(raw))
try:
    receive(response)
except ProtocolError:
    print(len(raw), (most_memory() - before) * 1024)
"""


@pytest.mark.proof
@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_half_a_gigabyte_is_refused_before_memory_fills(encoding):
    compressed, grown = map(int, subprocess.check_output([sys.executable, "-c", BOMB, encoding]).split())
    assert compressed < 4 * 1024 * 1024
    assert grown < 4 * MAX_BYTES


def test_the_body_of_an_error_has_a_limit():
    reason = b'{"errors": [{"type": "parameters", "message": "no"}]%s}'
    small = answer(reason % b"", "identity")
    assert [problem.message for problem in problems_in(body_of_error(small), small.request)] == ["no"]
    assert body_of_error(answer(gzip.compress(reason % (b" " * 10_000_000)), "gzip")) == b""
