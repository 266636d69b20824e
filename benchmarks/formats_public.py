"""How do people read and write these formats without netdyno? Each as its package's own documentation does it.

    python formats_public.py TOOL.JOB SOURCE TARGET EXPECTED

The source is a folder of JPEGs for each class, or MNIST's plain files. What is written has the names and contents
that netdyno gives it, and is on the disk in the end, waited for once. Frameworks' own tools run where these live.
"""

import glob
import io
import json
import os
import shutil
import sys

import numpy as np
from formats_files import A_SHARD, Sum, images, listed, shards, sync
from formats_side import serve


def simplejpeg_decode(source, target):
    import simplejpeg

    return decoding(source, simplejpeg.decode_jpeg)


def pillow_decode(source, target):
    from PIL import Image

    return decoding(source, lambda encoded: np.asarray(Image.open(io.BytesIO(encoded)).convert("RGB")))


def decoding(source, decode):
    """The images are in memory before the clock starts."""
    loaded = [(encoded, label) for _, label, encoded in images(source)]

    def job():
        size = sum(decode(encoded).nbytes for encoded, _ in loaded)
        return [len(loaded), size, sum(label for _, label in loaded)]

    return job


def shutil_folder(source, target):
    def job():
        for path, _ in listed(source):
            folder = os.path.join(target, "train", os.path.basename(os.path.dirname(path)))
            os.makedirs(folder, exist_ok=True)
            shutil.copyfile(path, os.path.join(folder, os.path.basename(path)))
        os.sync()

    return job


def shutil_cntk_map(source, target):
    def job():
        lines = []
        for index, (path, label) in enumerate(listed(source)):
            name = f"train_images/{index // A_SHARD:05d}/{index:08d}_{os.path.basename(path)}"
            os.makedirs(os.path.dirname(os.path.join(target, name)), exist_ok=True)
            shutil.copyfile(path, os.path.join(target, name))
            lines.append(f".../{name}\t{label}\n")
        with open(os.path.join(target, "train_map.txt"), "w") as file:
            file.writelines(lines)
        os.sync()

    return job


def files_read_folder(source, target):
    def job():
        seen = Sum()
        for _, label, encoded in images(source):
            seen.add(encoded, label)
        return seen.found()

    return job


def files_read_cntk_map(source, target):
    def job():
        seen = Sum()
        with open(os.path.join(source, "train_map.txt")) as lines:
            for path, _, label in (line.partition("\t") for line in lines):
                with open(path.replace("...", source, 1), "rb") as file:
                    seen.add(file.read(), label)
        return seen.found()

    return job


def tarfile_write(source, target):
    import tarfile

    def add(archive, name, data):
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))

    def job():
        index = 0
        for path, some in shards(source, os.path.join(target, "train-{number:05d}.tar")):
            with tarfile.open(path, "w") as archive:
                for name, label, encoded in some:
                    stem = f"{index:08d}_{name.partition('.')[0]}"
                    add(archive, stem + ".jpg", encoded)
                    add(archive, stem + ".cls", b"%d" % label)
                    index += 1
        sync(os.path.join(target, "*.tar"))

    return job


def tarfile_read(source, target):
    import tarfile

    def job():
        seen = Sum()
        for path in sorted(glob.glob(os.path.join(source, "train-*.tar"))):
            with tarfile.open(path, "r:") as archive:
                members = iter(archive)
                for image, label in zip(members, members, strict=True):
                    seen.add(archive.extractfile(image).read(), archive.extractfile(label).read())
        return seen.found()

    return job


def webdataset_write(source, target):
    import webdataset

    def job():
        with webdataset.ShardWriter(os.path.join(target, "train-%05d.tar"), maxcount=A_SHARD, verbose=0) as shards:
            for index, (name, label, encoded) in enumerate(images(source)):
                key = f"{index:08d}_{name.partition('.')[0]}"
                shards.write({"__key__": key, "jpg": encoded, "cls": b"%d" % label})
        sync(os.path.join(target, "*.tar"))

    return job


def webdataset_read(source, target):
    import webdataset

    def job():
        seen = Sum()
        paths = sorted(glob.glob(os.path.join(source, "train-*.tar")))
        for sample in webdataset.WebDataset(paths, shardshuffle=False):
            seen.add(sample["jpg"], sample["cls"])
        return seen.found()

    return job


def main():
    import formats_public_arrays
    import formats_public_records

    tool, source, target, expected = sys.argv[1:]
    for place in (globals(), vars(formats_public_records), vars(formats_public_arrays)):
        if tool in place:
            return serve(place[tool](source, target), target, json.loads(expected))
    raise SystemExit(f"expected a tool's job, received {tool}")


if __name__ == "__main__":
    main()
