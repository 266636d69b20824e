"""The adapter of TensorFlow 2."""
