"""Does a ceil-mode pool, spelled out as padding, count the windows it should?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdyno.graph.model import Draw
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.padding import ceil_padding, four_sides, pair


def _images(size: int) -> tuple[Net, Value]:
    net = Net(batch=1, classes=10, learning_rate=0.01)
    return net, net.input("images", (1, 1, size, size), Draw(kind="normal"), kind="image")


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "pad", "windows"),
    [
        (112, 3, 2, 0, 56),  # the first pool of GoogLeNet: floor mode would give 55
        (56, 3, 2, 0, 28),
        (14, 2, 2, 0, 7),
        (7, 2, 2, 0, 4),
        (13, 3, 2, 0, 6),
        (6, 3, 1, 1, 6),
        (4, 2, 4, 0, 1),
        (5, 2, 4, 0, 2),  # the second window holds one row of the image
        (6, 2, 2, 1, 4),
        (7, 2, 2, 1, 4),  # a fifth window would start in the padding after the image
        (5, 1, 3, 0, 2),
    ],
)
def test_ceil_mode_counts_windows_that_start_in_the_image(
    size: int, kernel: int, stride: int, pad: int, windows: int
) -> None:
    net, images = _images(size)
    assert net.max_pool(images, kernel, stride, pad=pad, ceil=True).shape[2:] == (windows, windows)


@given(st.integers(1, 40), st.integers(1, 6), st.integers(1, 6), st.data())
def test_ceil_mode_covers_the_image_and_starts_no_window_outside(
    size: int, kernel: int, stride: int, data: st.DataObject
) -> None:
    pad = data.draw(st.integers(0, kernel // 2))
    if size + 2 * pad < kernel:
        return
    net, images = _images(size)
    windows = net.max_pool(images, kernel, stride, pad=pad, ceil=True).shape[2]
    last_start = (windows - 1) * stride - pad
    assert last_start < size
    assert last_start + kernel + stride > size + pad or last_start + stride >= size
    assert windows >= net.max_pool(images, kernel, stride, pad=pad).shape[2]


def test_each_side_is_padded_by_itself() -> None:
    assert ceil_padding((7, 8), 2, 2, 0) == (0, 1, 0, 0)
    assert ceil_padding((7, 8), (2, 3), (2, 2), (0, 0, 1, 0)) == (0, 1, 1, 0)


def test_a_number_means_all_sides() -> None:
    assert pair(3) == (3, 3)
    assert pair((3, 5)) == (3, 5)
    assert four_sides(2) == (2, 2, 2, 2)
    assert four_sides((0, 1, 2, 3)) == (0, 1, 2, 3)
