"""The adapter of TensorFlow 1."""
