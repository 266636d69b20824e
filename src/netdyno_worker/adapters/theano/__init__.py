"""The adapter of Theano."""
