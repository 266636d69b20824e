"""How does plain NumPy read and write MNIST's images as IDX, CIFAR and packed files?"""

import json
import os

import numpy as np

SIDE = 28
IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
CIFAR_A_FILE = 10000


def loaded(source):
    """Heads, images and labels of MNIST's two files."""
    images, labels = (np.fromfile(os.path.join(source, name), np.uint8) for name in (IMAGES, LABELS))
    return images[:16], images[16:].reshape(-1, SIDE, SIDE), labels[:8], labels[8:]


def written(target, name, *arrays):
    with open(os.path.join(target, name), "wb") as file:
        for array in arrays:
            array.tofile(file)
        os.fsync(file.fileno())


def numpy_write_idx(source, target):
    def job():
        head, images, label_head, labels = loaded(source)
        written(target, IMAGES, head, images)
        written(target, LABELS, label_head, labels)

    return job


def numpy_write_cifar(source, target):
    """Grey images have one plane."""

    def job():
        _, images, _, labels = loaded(source)
        records = np.concatenate([labels[:, None], images.reshape(len(images), -1)], axis=1)
        for number, first in enumerate(range(0, len(records), CIFAR_A_FILE), 1):
            written(target, f"data_batch_{number}.bin", records[first : first + CIFAR_A_FILE])
        about = {"count": len(images), "classes": [str(n) for n in range(10)], "shape": [SIDE, SIDE, 1]}
        with open(os.path.join(target, "train.cifar.json"), "w") as file:
            json.dump(about, file)

    return job


def numpy_write_packed(source, target):
    def job():
        _, images, _, labels = loaded(source)
        about = {"count": len(images), "classes": [str(n) for n in range(10)], "shape": [SIDE, SIDE, 1]}
        header = json.dumps(dict(about, images_at=4096, labels_at=4096 + images.size)).encode()
        head = (b"NDPACK01" + len(header).to_bytes(8, "little") + header).ljust(4096, b"\0")
        written(target, "train.packed", np.frombuffer(head, np.uint8), images, labels.astype("<i4"))

    return job


def numpy_read_idx(source, target):
    def job():
        _, images, _, labels = loaded(source)
        return [len(images), images.nbytes, int(labels.sum())]

    return job


def numpy_read_cifar(source, target):
    def job():
        count = len([name for name in os.listdir(source) if name.startswith("data_batch_")])
        found = [0, 0, 0]
        for number in range(1, count + 1):
            records = np.fromfile(os.path.join(source, f"data_batch_{number}.bin"), np.uint8)
            records = records.reshape(-1, 1 + SIDE * SIDE)
            images = np.ascontiguousarray(records[:, 1:].reshape(-1, 1, SIDE, SIDE).transpose(0, 2, 3, 1))
            found = [found[0] + len(images), found[1] + images.nbytes, found[2] + int(records[:, 0].sum())]
        return found

    return job


def numpy_read_packed(source, target):
    def job():
        path = os.path.join(source, "train.packed")
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(16)[8:], "little")
            header = json.loads(file.read(length).decode())
        count, shape = header["count"], header["shape"]
        images = np.fromfile(path, np.uint8, count * int(np.prod(shape)), offset=header["images_at"])
        labels = np.fromfile(path, "<i4", count, offset=header["labels_at"])
        return [len(images.reshape(count, *shape)), images.nbytes, int(labels.sum())]

    return job
