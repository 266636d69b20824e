"""CIFAR10's archive for Python in small, pickled as Python 2 did it."""

import gzip
import io
import struct
import tarfile
from collections.abc import Mapping
from typing import Any

import numpy as np

CLASSES = ("airplane", "automobile", "bird")


def planes(seed: int, count: int) -> np.ndarray:
    return np.random.RandomState(seed).randint(0, 256, (count, 3072)).astype(np.uint8)


def archive_files(count: int = 4) -> dict[str, bytes]:
    """The archive's seven files, `count` items in each batch."""
    names = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    batches = {name: pickled_batch(seed, count) for seed, name in enumerate(names)}
    return {**batches, "batches.meta": python2_pickle({"label_names": list(CLASSES), "num_vis": 3072})}


def pickled_batch(seed: int, count: int, **changes: Any) -> bytes:
    labels = [(seed + index) % len(CLASSES) for index in range(count)]
    names = [f"picture_{seed}_{index}.png" for index in range(count)]
    batch = {"batch_label": "a batch", "labels": labels, "data": planes(seed, count), "filenames": names}
    return python2_pickle({**batch, **changes})


def tar_gz(files: Mapping[str, bytes], folder: str = "cifar-10-batches-py/") -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(folder + name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return gzip.compress(file.getvalue())


def python2_pickle(value: Any) -> bytes:
    """Protocol 2, in which text is bytes and arrays are rebuilt by `numpy.core.multiarray`."""
    return b"\x80\x02" + _pickled(value) + b"."


def _pickled(value: Any) -> bytes:
    if isinstance(value, dict):
        return b"}(" + b"".join(_pickled(key) + _pickled(part) for key, part in value.items()) + b"u"
    if isinstance(value, list):
        return b"](" + b"".join(map(_pickled, value)) + b"e"
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value)
    if isinstance(value, np.ndarray):
        return _pickled_array(value)
    return _string(value.encode() if isinstance(value, str) else value)


def _string(data: bytes) -> bytes:
    return b"T" + struct.pack("<i", len(data)) + data


def _pickled_array(array: np.ndarray) -> bytes:
    empty = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00t" + _string(b"b") + b"tR"
    kind = b"cnumpy\ndtype\n(" + _string(array.dtype.str[1:].encode()) + b"K\x00K\x01tR"
    kind += b"(K\x03" + _string(b"|") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    shape = b"(" + b"".join(_pickled(size) for size in array.shape) + b"t"
    return empty + b"(K\x01" + shape + kind + b"\x89" + _string(array.tobytes()) + b"tb"
