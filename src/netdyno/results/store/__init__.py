"""Where records are kept, and how they are read and written."""

from netdyno.results.store.opening import open_store
from netdyno.results.store.store import Basis, Finished, Store

__all__ = ("Basis", "Finished", "Store", "open_store")
