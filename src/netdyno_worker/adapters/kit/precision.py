"""In which type parameters, inputs and constants are kept: float32, in float64 proofs float64."""

import numpy as np


def kept_type(job):
    """The numpy type; narrower precisions compute in theirs from float32 values."""
    return np.dtype(np.float64 if job.precision == "float64" else np.float32)
