"""How fast is Keras without any harness? Functional models trained with train_on_batch, to hold the adapter against.

    echo 100 | KERAS_BACKEND=jax python benchmarks/bare_keras.py --network lenet --dataset mnist --batch 64

prints the seconds that a hundred steps took; see blocks.py. The batch stays on the device.
"""

import os

import numpy as np
from blocks import read_options, serve

LEARNING_RATE = 0.01
MOMENTUM = 0.9


def lenet(keras, x, classes):
    layers = keras.layers
    x = layers.Conv2D(6, 5, padding="same", activation="tanh")(x)
    x = layers.AveragePooling2D(2)(x)
    x = layers.Conv2D(16, 5, activation="tanh")(x)
    x = layers.AveragePooling2D(2)(x)
    x = layers.Flatten()(x)
    x = layers.Dense(120, activation="tanh")(x)
    x = layers.Dense(84, activation="tanh")(x)
    return layers.Dense(classes)(x)


def alexnet(keras, x, classes):
    layers = keras.layers
    x = layers.ZeroPadding2D(5)(x)
    x = layers.Conv2D(64, 11, strides=4, activation="relu")(x)
    x = layers.MaxPooling2D(2)(x)
    x = layers.Conv2D(192, 5, padding="same", activation="relu")(x)
    x = layers.MaxPooling2D(2)(x)
    x = layers.Conv2D(384, 3, padding="same", activation="relu")(x)
    x = layers.Conv2D(256, 3, padding="same", activation="relu")(x)
    x = layers.Conv2D(256, 3, padding="same", activation="relu")(x)
    x = layers.MaxPooling2D(2)(x)
    return layers.Dense(classes)(layers.Flatten()(x))


# network, image side, channels, classes, parameters
CASES = {
    ("lenet", "mnist"): (lenet, 28, 1, 10, 61_706),
    ("alexnet", "cifar10"): (alexnet, 32, 3, 10, 2_472_266),
}


def training_step(options):
    """A function that makes one step on a batch that stays on the device."""
    place = PREPARE[os.environ["KERAS_BACKEND"]](options)
    import keras  # after the backend has been told its device and threads

    network, side, channels, classes, expected = CASES[options.network, options.dataset]
    last = keras.config.image_data_format() == "channels_last"
    shape = (side, side, channels) if last else (channels, side, side)
    inputs = keras.Input(shape=shape)
    model = keras.Model(inputs, network(keras, inputs, classes))
    assert model.count_params() == expected, (model.count_params(), expected)
    model.compile(
        optimizer=keras.optimizers.SGD(learning_rate=LEARNING_RATE, momentum=MOMENTUM),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=options.execution == "compiled",
    )
    draw = np.random.RandomState(1)
    images = place(draw.uniform(0, 1, (options.batch, *shape)).astype(np.float32))
    labels = place(draw.randint(0, classes, options.batch))
    return lambda: model.train_on_batch(images, labels)


def prepare_tensorflow(options):
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    tf.config.threading.set_inter_op_parallelism_threads(options.threads)
    if options.device == "cpu":
        tf.config.set_visible_devices([], "GPU")
    tf.config.experimental.enable_tensor_float_32_execution(options.precision == "tf32")
    return tf.constant


def prepare_jax(options):
    import jax

    # JAX has as many threads as cores it may run on.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax.config.update("jax_platforms", options.device)
    jax.config.update("jax_default_matmul_precision", "default" if options.precision == "tf32" else "highest")
    return jax.numpy.asarray


def prepare_torch(options):
    """Channels first for Keras, last in memory: neither Keras nor PyTorch then copies an image to reorder it."""
    os.environ["KERAS_TORCH_DEVICE"] = options.device
    import keras
    import torch

    keras.config.set_image_data_format("channels_first")
    torch.set_num_threads(options.threads)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
    torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
    strict = options.device == "cuda" and options.precision == "float32"

    def place(array):
        form = torch.channels_last if array.ndim == 4 and not strict else torch.contiguous_format
        return torch.from_numpy(array).to(device=options.device, memory_format=form)

    return place


PREPARE = {"tensorflow": prepare_tensorflow, "jax": prepare_jax, "torch": prepare_torch}


def main() -> None:
    """train_on_batch returns the loss as a number, so nothing is left to wait for."""
    serve(training_step(read_options(CASES)), lambda: None)


if __name__ == "__main__":
    main()
