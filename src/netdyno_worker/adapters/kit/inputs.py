"""Which inputs of a program does a framework's own pipeline fill, and do its files fit them?"""

from collections import namedtuple

from netdyno_worker.contract import Unsupported

# Names of both inputs, the batch's size, (channels, height, width) of an image, the classes told apart.
Filled = namedtuple("Filled", "images labels batch shape classes")


def filled_inputs(program, files):
    """The two inputs; refused where the files would leave them without a batch, a pixel or a class."""
    images = [i for i in program.inputs if len(i.shape) == 4 and i.draw["kind"] != "integers"]
    labels = [i for i in program.inputs if len(i.shape) == 1 and i.draw["kind"] == "integers"]
    if len(images) != 1 or len(labels) != 1 or len(program.inputs) != 2:
        names = ", ".join("%s %s" % (i.name, list(i.shape)) for i in program.inputs)
        raise Unsupported("a pipeline feeds one input of images and one of labels, received inputs %s" % names)
    shape = images[0].shape
    found = Filled(images[0].name, labels[0].name, shape[0], tuple(shape[1:]), int(labels[0].draw["high"]))
    _check(found, files)
    return found


def _check(inputs, files):
    rule, (channels, height, width) = files.transforms, inputs.shape
    _expect(files, files.count >= inputs.batch, "at least a batch of %d images" % inputs.batch, files.count)
    _expect(files, files.classes <= inputs.classes, "at most %d classes" % inputs.classes, files.classes)
    for name in ("mean", "std"):
        _expect(files, len(rule[name]) == channels, "a %s for each of %d channels" % (name, channels), rule[name])
    fits = rule["crop"] is None or rule["crop"] == height == width
    _expect(files, fits, "crops of %d×%d" % (height, width), rule["crop"])
    _expect(files, not (rule["resized"] and rule["crop"] is None), "a crop to scale to", None)


def _expect(files, holds, expected, received):
    if not holds:
        raise ValueError("'%s', %s: expected %s, received %s" % (files.root, files.split, expected, received))
