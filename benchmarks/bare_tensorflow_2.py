"""How fast is TensorFlow 2 without any harness? Training loops over its own layers, to hold the adapter against.

    echo 100 | python benchmarks/bare_tensorflow_2.py --network lenet --dataset mnist --batch 64

prints the seconds that a hundred steps took; see blocks.py.
"""

import tensorflow as tf
import tensorflow_2_families
from blocks import check_parameters, read_options, serve

layers = tf.keras.layers


def lenet():
    return tf.keras.Sequential(
        [
            tf.keras.Input((28, 28, 1)),
            layers.Conv2D(6, 5, padding="same", activation="tanh"),
            layers.AveragePooling2D(2),
            layers.Conv2D(16, 5, activation="tanh"),
            layers.AveragePooling2D(2),
            layers.Flatten(),
            layers.Dense(120, activation="tanh"),
            layers.Dense(84, activation="tanh"),
            layers.Dense(10, dtype="float32"),
        ]
    )


def alexnet():
    return tf.keras.Sequential(
        [
            tf.keras.Input((32, 32, 3)),
            layers.ZeroPadding2D(5),
            layers.Conv2D(64, 11, strides=4, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(192, 5, padding="same", activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(384, 3, padding="same", activation="relu"),
            layers.Conv2D(256, 3, padding="same", activation="relu"),
            layers.Conv2D(256, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(10, dtype="float32"),
        ]
    )


# (network, dataset): its model, parameter count
CASES = {("lenet", "mnist"): (lenet, 61_706), ("alexnet", "cifar10"): (alexnet, 2_472_266)}


def training_step(options):
    """A function that makes one step on a batch that stays on the device."""
    if (options.network, options.dataset) not in CASES:
        make, count = tensorflow_2_families.CASES[options.network, options.dataset]
        return make(options, options.expected(count), **options.set)
    make, count = CASES[options.network, options.dataset]
    model = make()
    check_parameters(model.count_params(), count)
    images = tf.random.normal((options.batch, *model.input_shape[1:]))
    labels = tf.random.uniform((options.batch,), maxval=10, dtype=tf.int64)
    optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function(jit_compile=True if options.execution == "compiled" else None)
    def train(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return lambda: train(images, labels)


def prepare(options) -> None:
    """The library's switches for this precision and machine."""
    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    tf.config.experimental.enable_tensor_float_32_execution(options.precision == "tf32")
    if options.precision == "bfloat16":
        tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    if options.device == "cpu":
        tf.config.set_visible_devices([], "GPU")


def main() -> None:
    options = read_options({**CASES, **tensorflow_2_families.CASES})
    prepare(options)
    wait = tf.test.experimental.sync_devices if options.device == "cuda" else lambda: None
    serve(training_step(options), wait)


if __name__ == "__main__":
    main()
