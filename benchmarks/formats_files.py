"""Which images lie in a folder, and what was read of them? All that the public tools' loops share."""

import glob
import os

A_SHARD = 1000  # images, in every format that has shards


def listed(source):
    """Path and label of each image."""
    classes = sorted(os.listdir(os.path.join(source, "train")))
    folders = [os.path.join(source, "train", name) for name in classes]
    return [(os.path.join(f, name), label) for label, f in enumerate(folders) for name in sorted(os.listdir(f))]


def images(source):
    """Name, label and bytes of each image."""
    for path, label in listed(source):
        with open(path, "rb") as file:
            yield os.path.basename(path), label, file.read()


def shards(source, pattern):
    """Path of each shard, by a pattern with `number` and `count`, and the images that go into it."""
    found = images(source)
    count = -(-len(listed(source)) // A_SHARD)
    for number in range(count):
        yield (
            pattern.format(number=number, count=count),
            (image for _, image in zip(range(A_SHARD), found, strict=False)),
        )


def sync(pattern):
    for path in glob.glob(pattern):
        with open(path, "rb") as file:
            os.fsync(file.fileno())


class Sum:
    """What a reader has seen."""

    def __init__(self):
        self.items = self.bytes = self.labels = 0

    def add(self, image, label):
        self.items, self.bytes, self.labels = self.items + 1, self.bytes + len(image), self.labels + int(label)

    def found(self):
        return [self.items, self.bytes, self.labels]
