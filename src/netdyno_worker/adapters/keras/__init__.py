"""The adapter of Keras 3 on one of its back ends."""
