"""What the adapters of TensorFlow 1 and 2 share."""
