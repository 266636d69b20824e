"""How fast is TensorFlow 1 without any harness? Static graphs of its own layers, to hold the adapter against.

    echo 100 | python benchmarks/bare_tensorflow_1.py --network lenet --dataset mnist --batch 64

prints the seconds that a hundred steps took; see blocks.py. Runs under Python 3.6.
"""

import tensorflow as tf
from blocks import read_options, serve


def lenet(x):
    x = tf.layers.conv2d(x, 6, 5, padding="same", activation=tf.tanh)
    x = tf.layers.average_pooling2d(x, 2, 2)
    x = tf.layers.conv2d(x, 16, 5, activation=tf.tanh)
    x = tf.layers.average_pooling2d(x, 2, 2)
    x = tf.layers.dense(tf.layers.flatten(x), 120, activation=tf.tanh)
    x = tf.layers.dense(x, 84, activation=tf.tanh)
    return tf.layers.dense(x, 10)


def alexnet(x):
    x = tf.pad(x, [[0, 0], [5, 5], [5, 5], [0, 0]])
    x = tf.layers.conv2d(x, 64, 11, strides=4, activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.conv2d(x, 192, 5, padding="same", activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.conv2d(x, 384, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.conv2d(x, 256, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.conv2d(x, 256, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 2, 2)
    return tf.layers.dense(tf.layers.flatten(x), 10)


# (network, dataset): its function, parameter count, image shape
CASES = {
    ("lenet", "mnist"): (lenet, 61_706, (28, 28, 1)),
    ("alexnet", "cifar10"): (alexnet, 2_472_266, (32, 32, 3)),
}


def training_step(options):
    """A function that makes one step on a batch that stays in the graph."""
    network, count, shape = CASES[options.network, options.dataset]
    images = tf.Variable(tf.random_normal((options.batch, *shape)), trainable=False)
    labels = tf.Variable(tf.random_uniform((options.batch,), maxval=10, dtype=tf.int64), trainable=False)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, network(images))
    train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    parameters = sum(variable.shape.num_elements() for variable in tf.trainable_variables())
    assert parameters == count, f"expected {count} parameters, received {parameters}"
    session = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=options.threads))
    session.run(tf.global_variables_initializer())
    return session.make_callable(train)


def main() -> None:
    serve(training_step(read_options(CASES)), lambda: None)


if __name__ == "__main__":
    main()
