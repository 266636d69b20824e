"""How are pixels that stay as they are fetched from a file? Many at a time, and the next while the last are used."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from netdyno.data.item import Images, Labels, PixelSource

BLOCK_BYTES = 1 << 22


def blocks(source: PixelSource, first: int) -> Iterator[tuple[Images, Labels]]:
    """All from the first on, in order."""
    count = source.about.count
    step = max(1, BLOCK_BYTES // math.prod(source.about.shape or (1,)))
    bounds = [(begin, min(begin + step, count)) for begin in range(first, count, step)]
    with ThreadPoolExecutor(1) as reader:
        coming = [reader.submit(source.pixels, *bound) for bound in bounds[:1]]
        for bound in bounds[1:]:
            coming.append(reader.submit(source.pixels, *bound))
            yield coming.pop(0).result()
        for last in coming:
            yield last.result()
