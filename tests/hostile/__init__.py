"""Seeded generators of hostile input, and what netdyno answers: one line or a result, never a traceback, in time."""
