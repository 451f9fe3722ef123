"""Bodies as they come: whole or not at all, and never more of them in memory than the limit."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
from time import monotonic

import httpx
import pytest
import zstandard

from wms_sync.service.body import MAX_BYTES, receive, unpacked
from wms_sync.service.errors import ProtocolError, Unreachable
from wms_sync.service.reasons import problems_in
from wms_sync.service.statuses import body_of_error

TEXT = b'{"collection": [' + b",".join(b'{"id": %d}' % number for number in range(20_000)) + b"]}"
PACKED = {"gzip": gzip.compress(TEXT), "zstd": zstandard.compress(TEXT), "identity": TEXT}


def answer(raw: bytes, encoding: str) -> httpx.Response:
    request = httpx.Request("GET", "https://acme.example.com")
    headers = {"Content-Encoding": encoding}
    return httpx.Response(200, headers=headers, stream=httpx.ByteStream(raw), request=request)


@pytest.mark.parametrize("encoding", PACKED)
def test_a_body_comes_through_as_it_is(encoding):
    body = receive(answer(PACKED[encoding], encoding), deadline=monotonic() + 5)
    assert body.content == TEXT
    if encoding != "identity":
        assert body.landed == PACKED[encoding]


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("kept", [10, 1000, -1])
def test_a_compressed_body_must_be_whole(encoding, kept):
    with pytest.raises(Unreachable):
        receive(answer(PACKED[encoding][:kept], encoding), deadline=monotonic() + 5)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("behind", [b"x", bytes(100), bytes(5000), PACKED["zstd"]])
def test_nothing_may_stand_behind_a_compressed_body(encoding, behind):
    """It would land with the page without having been looked at."""
    with pytest.raises(Unreachable, match="follow its end"):
        receive(answer(PACKED[encoding] + behind, encoding), deadline=monotonic() + 5)


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip"])
def test_gzip_may_come_in_several_members(encoding):
    half = len(TEXT) // 2
    members = [gzip.compress(TEXT[:half]), gzip.compress(TEXT[half:])]
    body = receive(answer(b"".join(members), encoding), deadline=monotonic() + 5, largest=len(TEXT))
    assert body.content == unpacked(body.landed, body.suffix) == TEXT
    with pytest.raises(Unreachable):
        receive(answer(b"".join(members)[:-9], encoding), deadline=monotonic() + 5)
    with pytest.raises(ProtocolError, match="WMS_PAGE_SIZE"):
        receive(answer(b"".join(members), encoding), deadline=monotonic() + 5, largest=len(TEXT) - 1)


def test_members_of_gzip_may_have_any_size():
    """Thousands of empty ones were copied whole for each: a small answer took hours."""
    dice = random.Random(3)
    contents = [dice.randbytes(size) for size in (0, 3, 4096, 70_000, 0, 4095, 1) * 3] + [b""] * 5000
    members = b"".join(map(gzip.compress, contents))
    whole = b"".join(contents)
    assert unpacked(members, "json.gz", largest=len(whole)) == whole
    for damaged in (members[:-1], members[: len(members) // 300], members + b"{", members + members[:9]):
        with pytest.raises(Unreachable):
            unpacked(damaged, "json.gz")
    with pytest.raises(ProtocolError):
        unpacked(members, "json.gz", largest=len(whole) - 1)


@pytest.mark.parametrize("encoding", PACKED)
def test_the_limit_counts_what_is_unpacked(encoding):
    receive(answer(PACKED[encoding], encoding), deadline=monotonic() + 5, largest=len(TEXT))
    with pytest.raises(ProtocolError, match="WMS_PAGE_SIZE"):
        receive(answer(PACKED[encoding], encoding), deadline=monotonic() + 5, largest=len(TEXT) - 1)


def test_zstd_may_not_ask_for_too_much_memory():
    wide = zstandard.ZstdCompressionParameters.from_level(3, window_log=27)
    compressor = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    raw = compressor.compress(TEXT) + compressor.flush()
    with pytest.raises(Unreachable, match="damaged"):
        receive(answer(raw, "zstd"), deadline=monotonic() + 5)


BOMB = """
import gzip, io, resource, sys, time, httpx, zstandard
from wms_sync.service.body import receive
from wms_sync.service.errors import ProtocolError

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
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
response = httpx.Response(200, headers={"Content-Encoding": sys.argv[1]}, stream=httpx.ByteStream(raw))
try:
    receive(response, deadline=time.monotonic() + 60)
except ProtocolError:
    print(len(raw), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.proof
@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_half_a_gigabyte_is_refused_before_memory_fills(encoding):
    told = subprocess.run([sys.executable, "-c", BOMB, encoding], capture_output=True, text=True, check=True).stdout
    compressed, grown = map(int, told.split())
    assert compressed < 4 * 1024 * 1024
    assert grown < 3 * MAX_BYTES


def test_the_body_of_an_error_has_a_limit():
    reason = b'{"errors": [{"type": "parameters", "message": "no"}]%s}'
    small = answer(reason % b"", "identity")
    assert [problem.message for problem in problems_in(body_of_error(small), small.request)] == ["no"]
    endless = gzip.compress(reason % (b" " * 10_000_000))
    assert body_of_error(answer(endless, "gzip")) == b""
