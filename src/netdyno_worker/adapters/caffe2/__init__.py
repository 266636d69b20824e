"""The adapter of Caffe2."""
