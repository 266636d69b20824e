"""What does a network draw? Pictures of one byte a value, made of the first batch of the test split."""

import base64
import gc

import numpy as np

from netdyno_worker.build import job_of
from netdyno_worker.program import read_program, shapes

MOST_SIDE = 64  # pixels: of larger pictures every second, third, … pixel is sent
LONGEST_REASON = 1000


def emit_pictures(adapter, request, parameters, batches, emit):
    """A training that has ended counts, whether or not pictures could be made after it."""
    try:
        emit("pictures", drawn=_drawn(adapter, request, parameters, batches))
    except Exception as error:  # a framework may raise anything
        emit("pictures", absent=("%s: %s" % (type(error).__name__, error))[:LONGEST_REASON])
    gc.collect()


def pixels_of(values, rule, logits=False):
    """(count, height, width, channels) of bytes, from a network's numbers (count, channels, height, width): what
    `rule` made of the pixels is undone."""
    values = np.nan_to_num(np.asarray(values, np.float64))
    if logits:
        values = 0.5 * (1.0 + np.tanh(0.5 * values))  # a sigmoid that never overflows
    mean, std = (np.reshape(rule[name], (-1, 1, 1)) for name in ("mean", "std"))
    pixels = np.rint(255.0 * np.clip(values * std + mean, 0.0, 1.0)).astype(np.uint8)
    every = -(-max(pixels.shape[2:]) // MOST_SIDE)
    return pixels[:, :, ::every, ::every].transpose(0, 2, 3, 1)


def _drawn(adapter, request, parameters, batches):
    asked, rule = request["plan"]["pictures"], request["plan"]["transforms"]
    program, batch = read_program(asked["programme"]), _first(batches)
    images = batch[asked["images"]]
    job = job_of(request, program, lambda name: np.array(parameters[name], np.float32, order="C"))
    values = _answer(adapter.build(job), program, batch)
    count = min(asked["count"], batches.count)
    made = pixels_of(values.reshape(images.shape)[:count], rule, asked["logits"])
    height, width, channels = made.shape[1:]
    return {
        "height": height,
        "width": width,
        "channels": channels,
        "made": _text(made),
        "images": _text(pixels_of(images[:count], rule)),
        "sees_images": asked["sees_images"],
    }


def _first(batches):
    batch = batches.room()
    batches.make(0, batch)
    return batch


def _answer(trainer, program, batch):
    """The only output of a program for what it reads of a batch."""
    trainer.feed({given.name: batch[given.name] for given in program.inputs})
    (output,) = program.outputs
    return np.reshape(trainer.read("outputs")[output], shapes(program)[output])


def _text(pixels):
    return base64.b64encode(np.ascontiguousarray(pixels).tobytes()).decode("ascii")
