"""Images side by side: numpy's products let other threads of Python work meanwhile.

The matrix library gets one thread for each: its own threads wait for each other by spinning, and where cores are
shared that takes ten times as long.
"""

from multiprocessing.pool import ThreadPool

_pools = {}  # by how many threads


def side_by_side(threads, function, arguments):
    """[function(*each)], in their order."""
    if threads == 1:
        return [function(*each) for each in arguments]
    if threads not in _pools:
        _pools[threads] = ThreadPool(threads)
    return _pools[threads].starmap(function, arguments, chunksize=1)
