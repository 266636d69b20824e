"""Encodings of bytes: images, compressed files, archives, messages and pickles."""
