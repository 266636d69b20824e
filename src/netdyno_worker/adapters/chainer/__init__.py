"""The adapter of Chainer."""
