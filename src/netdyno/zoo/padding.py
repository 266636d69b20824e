"""How a window's padding is spelled out on four sides, ceil mode included."""

from math import ceil

Size = int | tuple[int, int]  # height and width; a number means both
Pad = int | tuple[int, int, int, int]  # top, bottom, left, right; a number means all


def pair(size: Size) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[1])


def four_sides(pad: Pad) -> tuple[int, int, int, int]:
    return (pad, pad, pad, pad) if isinstance(pad, int) else (pad[0], pad[1], pad[2], pad[3])


def ceil_padding(image: tuple[int, int], kernel: Size, stride: Size, pad: Pad) -> tuple[int, int, int, int]:
    """`pad` with enough added at the bottom and the right for the windows that ceil mode counts."""
    top, bottom, left, right = four_sides(pad)
    (height, width), (down, across) = pair(kernel), pair(stride)
    return (
        top,
        _far_side(image[0] + top, bottom, height, down),
        left,
        _far_side(image[1] + left, right, width, across),
    )


def _far_side(extent: int, pad: int, kernel: int, stride: int) -> int:
    """Padding after `extent` (the image and the padding before it); the last window must start inside it."""
    windows = ceil((extent + pad - kernel) / stride) + 1
    if (windows - 1) * stride >= extent:
        windows -= 1
    return max(pad, (windows - 1) * stride + kernel - extent)
