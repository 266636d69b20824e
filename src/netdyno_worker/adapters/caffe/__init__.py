"""The adapter of Caffe."""
