"""How Theano is imported: after setting its compile folder, the BLAS to link and float32.

Linked against no BLAS, Theano's convolutions would go through a slow replacement. NumPy's wheel carries an OpenBLAS
that the process has loaded anyway, so compiled code is linked against that very file.
"""

import glob
import importlib
import logging
import os
import sys

import numpy as np

# Compiled code is kept beside the interpreter: a second run finds it, and processes lock the folder in turn.
CACHE = os.path.join(sys.prefix, "theano")


def write_flags(given):
    """THEANO_FLAGS: the later of two wins, so a user's own BLAS and folder do, but not another precision."""
    # Ops that exist from the start take this when they are imported, so build() would set it too late.
    parallel = os.environ.get("OMP_NUM_THREADS", "") != "1"
    fixed = ["device=cpu", "floatX=float32", "openmp=%s" % parallel]
    return ",".join(filter(None, _suggested() + [given] + fixed))


def find_blas():
    """The OpenBLAS of NumPy's or SciPy's wheel, or None where there is none to link: Theano then searches itself."""
    packages = os.path.dirname(os.path.dirname(np.__file__))
    for place in ("numpy.libs", "numpy/.libs", "scipy.libs", "scipy/.libs"):
        for path in sorted(glob.glob(os.path.join(packages, place, "libopenblas*.so*"))):
            # Builds with 64-bit indices name their functions otherwise; a space would split Theano's linker flags.
            if "64_" not in os.path.basename(path) and " " not in path:
                return path
    return None


def _suggested():
    flags = []
    if os.access(sys.prefix, os.W_OK):
        flags.append("base_compiledir=" + CACHE)
    blas = find_blas()
    if blas is not None:
        flags.append("blas.ldflags=-L%s -l:%s" % os.path.split(blas))
    return flags


os.environ["THEANO_FLAGS"] = write_flags(os.environ.get("THEANO_FLAGS", ""))
# It looks for a library named without the colon, and warns although the linker finds this one.
logging.getLogger("theano.tensor.blas").setLevel(logging.ERROR)

theano = importlib.import_module("theano")
tensor = importlib.import_module("theano.tensor")
pool_2d = importlib.import_module("theano.tensor.signal.pool").pool_2d
MRG_RandomStreams = importlib.import_module("theano.sandbox.rng_mrg").MRG_RandomStreams
