"""Training in TensorFlow 2 of networks that are not classifiers of images by momentum, for bare_tensorflow_2.py.

Each function gives a step on a batch that stays on the device.
"""

import tensorflow as tf
from blocks import check_parameters

layers = tf.keras.layers


def lstm(options, expected, words=10_000, hidden=256, steps=32):
    """Keras's layer adds one bias to a gate's sum where netdyno's network, as PyTorch's and cuDNN's, has two."""
    model = tf.keras.Sequential(
        [
            tf.keras.Input((steps,), dtype="int64"),
            layers.Embedding(words, hidden),
            layers.LSTM(hidden, return_sequences=True),
            layers.LSTM(hidden, return_sequences=True),
            layers.Dense(words, dtype="float32"),
        ]
    )
    check_parameters(model.count_params() + 2 * 4 * hidden, expected)
    read, said = (tf.random.uniform((options.batch, steps), maxval=words, dtype=tf.int64) for _ in range(2))
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return by_adam(options, model.trainable_variables, lambda: loss_of(said, model(read, training=True)))


def vae(options, expected, hidden=400, code=20):
    encoder, decoder = layers.Dense(hidden, activation="relu"), layers.Dense(hidden, activation="relu")
    mean_of, log_variance_of, again_of = layers.Dense(code), layers.Dense(code), layers.Dense(784, dtype="float32")
    pixels = tf.random.uniform((options.batch, 784))

    def loss_of():
        x = encoder(pixels)
        mean, log_variance = mean_of(x), log_variance_of(x)
        drawn = mean + tf.exp(0.5 * log_variance) * tf.random.normal(mean.shape, dtype=mean.dtype)
        again = again_of(decoder(drawn))
        reconstruction = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=pixels, logits=again))
        divergence = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance))
        return (reconstruction + tf.cast(divergence, tf.float32)) / options.batch

    loss_of()  # makes the variables
    every = (encoder, mean_of, log_variance_of, decoder, again_of)
    variables = [variable for layer in every for variable in layer.trainable_variables]
    check_parameters(sum(variable.shape.num_elements() for variable in variables), expected)
    return by_adam(options, variables, loss_of)


def by_adam(options, variables, loss_of):
    optimizer = tf.keras.optimizers.Adam(0.001, epsilon=1e-8)

    @compiled_for(options)
    def train():
        with tf.GradientTape() as tape:
            loss = loss_of()
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return train


def rbm(options, expected, hidden=500):
    """Contrastive divergence by outer products, without a tape, as it is usually written; what is watched
    is the error of what it makes."""
    weight = tf.Variable(tf.random.normal((784, hidden), stddev=0.01))
    to_hidden, to_visible = tf.Variable(tf.zeros(hidden)), tf.Variable(tf.zeros(784))
    variables = [weight, to_hidden, to_visible]
    check_parameters(sum(variable.shape.num_elements() for variable in variables), expected)
    velocities = [tf.Variable(tf.zeros_like(variable)) for variable in variables]
    data = tf.random.uniform((options.batch, 784))

    @compiled_for(options)
    def train():
        hidden = tf.sigmoid(data @ weight + to_hidden)
        drawn = tf.cast(tf.random.uniform(hidden.shape) < hidden, tf.float32)
        made = tf.sigmoid(tf.matmul(drawn, weight, transpose_b=True) + to_visible)
        again = tf.sigmoid(made @ weight + to_hidden)
        of_weight = tf.matmul(made, again, transpose_a=True) - tf.matmul(data, hidden, transpose_a=True)
        gradients = of_weight / options.batch, tf.reduce_mean(again - hidden, 0), tf.reduce_mean(made - data, 0)
        for variable, velocity, gradient in zip(variables, velocities, gradients, strict=True):
            velocity.assign(0.5 * velocity + gradient)
            variable.assign_sub(0.05 * velocity)
        return tf.reduce_sum(tf.square(data - made))

    return train


def compiled_for(options):
    return tf.function(jit_compile=True if options.execution == "compiled" else None)


# (network, dataset): what makes its step, parameter count
CASES = {
    ("lstm", "text"): (lstm, 6_182_672),
    ("vae", "mnist"): (vae, 652_824),
    ("rbm", "mnist"): (rbm, 393_284),
}
