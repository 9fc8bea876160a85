"""Compressed bodies are taken apart piece by piece, and only as far as somebody asks."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.web.decoding import PIECE, Decoder, DecodingError, decoder_for


def made(encoding: str) -> Decoder:
    """The decoder, which has to be there."""
    decoder = decoder_for(encoding)
    assert decoder is not None
    return decoder


def raw_deflate(data: bytes) -> bytes:
    """Deflate as servers send it that leave its envelope out."""
    squeeze = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return squeeze.compress(data) + squeeze.flush()


ENCODED: Mapping[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    "identity": lambda data: data,
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "GZIP ": gzip.compress,
    "deflate": zlib.compress,
}


@given(st.binary(max_size=3000), st.integers(1, 700), st.sampled_from(sorted(ENCODED)))
def test_a_body_is_the_same_however_it_comes(data: bytes, size: int, encoding: str) -> None:
    """Where the pieces are cut changes nothing, and at the end the body is whole."""
    decoder = made(encoding)
    sent = ENCODED[encoding](data)
    got = [
        piece for at in range(0, len(sent), size) for piece in decoder.feed(sent[at : at + size])
    ]
    assert b"".join(got) == data
    assert decoder.whole()


def test_deflate_without_its_envelope_is_understood() -> None:
    """Some servers send it so, and every browser takes it."""
    decoder = made("deflate")
    assert b"".join(decoder.feed(raw_deflate(b"hello" * 100))) == b"hello" * 100
    assert decoder.whole()


def test_gzip_may_have_several_members() -> None:
    """A body of concatenated members is their content, one after the other."""
    decoder = made("gzip")
    assert b"".join(decoder.feed(gzip.compress(b"a") + gzip.compress(b"b"))) == b"ab"
    assert decoder.whole()


def test_a_bomb_comes_in_small_pieces() -> None:
    """However much a piece unpacks to, no more than one portion of it is made at a time."""
    pieces = made("gzip").feed(gzip.compress(bytes(50_000_000)))
    for _ in range(10):
        assert len(next(pieces)) <= PIECE


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("gzip", b"plain text"),
        ("gzip", gzip.compress(b"x" * 1000, mtime=0)[:20] + b"damage" * 20),
        ("gzip", gzip.compress(b"x", mtime=0) + b"more"),
        ("deflate", b"\xff\xff\xff"),
        ("deflate", zlib.compress(b"x") + b"more"),
    ],
)
def test_damage_is_an_error(encoding: str, data: bytes) -> None:
    """What can not be decoded is never handed on as if it were the body."""
    with pytest.raises(DecodingError):
        list(made(encoding).feed(data))


def test_a_body_that_breaks_off_is_not_whole() -> None:
    """The end of the compressed data has to have been there."""
    decoder = made("gzip")
    list(decoder.feed(gzip.compress(b"x" * 1000)[:-9]))
    assert not decoder.whole()


def test_an_empty_body_is_whole() -> None:
    """A server may name an encoding and send nothing, as for an empty page."""
    assert made("gzip").whole()


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "gzip, deflate", "x"])
def test_what_was_not_asked_for_has_no_decoder(encoding: str) -> None:
    """Only what is sent as `Accept-Encoding` is undone, and one layer of it."""
    assert decoder_for(encoding) is None
