"""Images of every common kind show what they should; bombs, cut and empty ones are refused by name."""

import io
import struct
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from netdyno.data.codecs.images import MOST_PIXELS, check_complete, encoded_of, pixels_of, size_of
from netdyno.data.item import Item
from netdyno.errors import NetdynoError


def _file(image: Image.Image, kind: str = "PNG", **options) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def _item(encoded: bytes) -> Item:
    return Item(name="n01_7.JPEG", label=0, encoded=encoded)


def _flat(mode: str, colour, size=(6, 4)) -> Image.Image:
    return Image.new(mode, size, colour)


def _png_header(width: int, height: int) -> bytes:
    chunk = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return b"\x89PNG\r\n\x1a\n" + body + b"\0\0\0\0IEND\xaeB`\x82"


@pytest.mark.parametrize(
    ("image", "kind", "red_green_blue"),
    [
        (_flat("RGB", (200, 30, 30)), "JPEG", (200, 30, 30)),
        (_flat("L", 90), "JPEG", (90, 90, 90)),
        (_flat("CMYK", (0, 255, 255, 0)), "JPEG", (255, 0, 0)),
        (_flat("RGB", (204, 51, 51)).convert("P"), "PNG", (204, 51, 51)),
        (_flat("RGBA", (10, 20, 30, 40)), "PNG", (10, 20, 30)),
        (_flat("LA", (70, 10)), "PNG", (70, 70, 70)),
        (_flat("1", 1), "PNG", (255, 255, 255)),
        (_flat("I;16", 0x7F01), "PNG", (0x7F, 0x7F, 0x7F)),
    ],
    ids=lambda value: getattr(value, "mode", None),
)
def test_every_kind_of_image_becomes_rgb_and_grey(image, kind, red_green_blue) -> None:
    encoded = _file(image, kind)
    rgb, grey = pixels_of(_item(encoded), 3), pixels_of(_item(encoded), 1)
    assert (rgb.shape, grey.shape, rgb.dtype) == ((4, 6, 3), (4, 6, 1), np.uint8)
    assert np.abs(rgb.astype(int) - np.array(red_green_blue)).max() <= 3
    assert abs(int(grey[0, 0, 0]) - int(np.dot(red_green_blue, (0.299, 0.587, 0.114)))) <= 3


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"subsampling": 0}, {"comment": b"\xff\xc0\xff\xda"}])
def test_a_jpeg_shows_what_pillow_sees_in_its_file(mode, options) -> None:
    noise = np.random.RandomState(3).randint(0, 256, (37, 53, len(Image.new(mode, (1, 1)).getbands())))
    image = Image.fromarray(noise.astype(np.uint8).squeeze(), mode)
    encoded = _file(image, "JPEG", **options)
    for channels, wanted in ((3, "RGB"), (1, "L")):
        seen = np.asarray(Image.open(io.BytesIO(encoded)).convert(wanted)).reshape(37, 53, channels)
        assert np.array_equal(pixels_of(_item(encoded), channels), seen)


def test_how_the_camera_was_held_is_ignored() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    assert pixels_of(_item(_file(_flat("RGB", (1, 2, 3)), "JPEG", exif=exif)), 3).shape == (4, 6, 3)


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from([1, 3]), st.randoms(use_true_random=False))
def test_pixels_encoded_and_decoded_are_the_same(height: int, width: int, channels: int, random) -> None:
    pixels = np.array([random.randrange(256) for _ in range(height * width * channels)], np.uint8)
    pixels = pixels.reshape(height, width, channels)
    encoded = encoded_of(Item(name="1", label=0, pixels=pixels))
    assert size_of(encoded) == (height, width, channels)
    assert np.array_equal(pixels_of(_item(encoded), channels), pixels)


def test_an_encoded_image_is_kept_byte_for_byte() -> None:
    encoded = _file(_flat("RGB", (1, 2, 3)), "JPEG")
    assert encoded_of(_item(encoded)) is encoded


@pytest.mark.parametrize(
    "pixels",
    [
        None,
        np.zeros((2, 2), np.uint8),
        np.zeros((2, 2, 3)),
        np.zeros((2, 2, 2), np.uint8),
        np.zeros((0, 2, 1), np.uint8),
    ],
)
def test_what_are_no_pixels_is_refused_by_name(pixels) -> None:
    with pytest.raises(NetdynoError, match=r"image n7: expected uint8 pixels of 1 or 3 channels"):
        encoded_of(Item(name="n7", label=0, pixels=pixels))


def test_pixels_become_grey_or_rgb_as_asked() -> None:
    grey = Item(name="1", label=0, pixels=np.full((2, 3, 1), 90, np.uint8))
    assert np.array_equal(pixels_of(grey, 3), np.full((2, 3, 3), 90))
    red = Item(name="1", label=0, pixels=np.broadcast_to(np.array([255, 0, 0], np.uint8), (2, 3, 3)))
    assert np.array_equal(pixels_of(red, 1), np.full((2, 3, 1), 76))
    with pytest.raises(NetdynoError, match="1 or 3 channels"):
        pixels_of(red, 2)


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
@pytest.mark.parametrize("progressive", [False, True])
def test_a_size_is_read_without_decoding(mode: str, progressive: bool) -> None:
    channels = 1 if mode == "L" else 3
    assert size_of(_file(_flat(mode, None, (31, 17)), "JPEG", progressive=progressive)) == (17, 31, channels)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_an_image_cut_anywhere_is_refused_by_name(kind: str) -> None:
    noise = Image.fromarray(np.random.RandomState(1).randint(0, 256, (20, 20, 3)).astype(np.uint8))
    thumbnail = Image.Exif()
    thumbnail[0x927C] = _file(_flat("RGB", (1, 2, 3)), "JPEG")
    encoded = _file(noise, kind, exif=thumbnail)
    check_complete(encoded, "whole")
    for cut in range(len(encoded) - 1):
        with pytest.raises(NetdynoError, match=r"n01_7\.JPEG"):
            check_complete(encoded[:cut], "n01_7.JPEG")
        with pytest.raises(NetdynoError, match=r"n01_7\.JPEG"):
            pixels_of(_item(encoded[:cut]), 3)


def test_bytes_behind_the_end_do_no_harm() -> None:
    for kind in ("JPEG", "PNG"):
        encoded = _file(_flat("RGB", (1, 2, 3)), kind)
        assert pixels_of(_item(encoded + b"\0\0camera"), 3).shape == (4, 6, 3)


@pytest.mark.parametrize("encoded", [b"", b"GIF89a...", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"<html>"])
def test_what_is_no_image_is_refused_by_name(encoded: bytes) -> None:
    for refuse in (lambda: pixels_of(_item(encoded), 3), lambda: size_of(encoded, "n01_7.JPEG")):
        with pytest.raises(NetdynoError, match=r"n01_7\.JPEG: expected"):
            refuse()


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    with pytest.raises(NetdynoError, match=r"at most 89,478,485 pixels, received 50000 × 50000"):
        pixels_of(_item(_png_header(50_000, 50_000)), 3)
    assert size_of(_png_header(MOST_PIXELS, 1)) == (1, MOST_PIXELS, 3)


@given(st.binary(max_size=300), st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", _png_header(3, 3)]))
def test_no_bytes_make_decoding_fail_otherwise(noise: bytes, start: bytes) -> None:
    for end in (b"", b"\xff\xd9", b"\0\0\0\0IEND\xaeB`\x82"):
        try:
            pixels = pixels_of(_item(start + noise + end), 3)
        except NetdynoError:
            continue
        assert pixels.ndim == 3


@pytest.mark.parametrize(("module", "channels"), [("PIL.Image", 3), ("simplejpeg", 1)])
def test_who_lacks_a_decoder_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, module: str, channels: int
) -> None:
    encoded = _file(_flat("L", 1), "JPEG")  # a grey JPEG is turned into colours by Pillow
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(NetdynoError, match=r"pip install 'netdyno\[data\]'"):
        pixels_of(_item(encoded), channels)
