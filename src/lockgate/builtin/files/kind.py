"""What a file that is no text probably is, by how it begins."""

from __future__ import annotations

from typing import Final

IMAGES: Final = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF87a", 0, "image/gif"),
    (b"GIF89a", 0, "image/gif"),
)
"""(bytes, where they stand, media type) of images that models take."""

_OTHERS: Final = (
    (b"%PDF-", 0, "a PDF document"),
    (b"PK\x03\x04", 0, "a ZIP archive, or an office document"),
    (b"\x1f\x8b", 0, "gzip data"),
    (b"BZh", 0, "bzip2 data"),
    (b"\xfd7zXZ\x00", 0, "xz data"),
    (b"(\xb5/\xfd", 0, "zstd data"),
    (b"\x7fELF", 0, "an ELF program or library"),
    (b"MZ", 0, "a Windows program"),
    (b"\xcf\xfa\xed\xfe", 0, "a Mach-O program"),
    (b"SQLite format 3\x00", 0, "an SQLite database"),
    (b"\x00asm", 0, "a WebAssembly module"),
    (b"ustar", 257, "a tar archive"),
    (b"OggS", 0, "Ogg audio or video"),
    (b"ID3", 0, "MP3 audio"),
    (b"ftyp", 4, "an MP4 or HEIF file"),
    (b"BM", 0, "a BMP image"),
    (b"II*\x00", 0, "a TIFF image"),
    (b"MM\x00*", 0, "a TIFF image"),
)

HEAD: Final = 512
"""Bytes of a file's beginning that are enough to tell."""


def image_type(head: bytes) -> str | None:
    """The media type of an image that models take; None if it is none."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return _first(head, IMAGES)


def binary_type(head: bytes) -> str:
    """In words, what bytes that are no text are."""
    return _first(head, _OTHERS) or "binary data"


def _first(head: bytes, table: tuple[tuple[bytes, int, str], ...]) -> str | None:
    return next((name for magic, at, name in table if head.startswith(magic, at)), None)


def size_text(size: int) -> str:
    """A size in bytes, as people say it."""
    if size < 10_000:
        return f"{size} byte{'' if size == 1 else 's'}"
    return f"{size / 1000:.0f} kB" if size < 10_000_000 else f"{size / 1_000_000:.0f} MB"
