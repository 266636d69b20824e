"""What a user reads when the database refuses."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from netdyno.errors import NetdynoError
from netdyno.results.store.location import Place
from netdyno.results.store.sound import DAMAGED
from netdyno.text import shortened

# The start of SQLite's name for an error: what is said of the place, and a hint.
SQLITE = {
    "SQLITE_FULL": ("the disk is full, nothing was written to {}.", "Free some space and run again."),
    "SQLITE_READONLY": ("{} cannot be written: it is read-only.", "Choose a file and folder you may write."),
    "SQLITE_CANTOPEN": (
        "{} cannot be opened or created.",
        "SQLite keeps two files beside it: copy it, with those that end in -wal and -shm, to a folder you may write.",
    ),
    "SQLITE_PERM": ("{} cannot be opened: permission denied.", "Choose a file you may read and write."),
    "SQLITE_NOTADB": ("{} is not a database.", "Choose another file; this one was left as it is."),
    "SQLITE_CORRUPT": ("{} is damaged.", DAMAGED),
    "SQLITE_BUSY": ("{} has been locked by another program for 30 s.", "Close that program and run again."),
    "SQLITE_IOERR": ("{} cannot be read or written: disk error.", "Is the disk full, or on a network?"),
}

# PostgreSQL's SQLSTATE, likewise.
POSTGRES_STATES = {
    "53100": ("the disk of {} is full, nothing was written.", "Free some space and run again."),
    "25006": ("{} is read-only.", "Use the primary server, or a database you may write."),
    "42501": ("{} does not permit this.", "Ask for the right to create and write tables there."),
}

# What a server says when it lets nobody in, where no state is given.
POSTGRES_WORDS = {
    "password": ("{} refused the user or the password.", "Check both; @ : / are written %40 %3A %2F."),
    "does not exist": ("{} has no such database or user.", "Create the database first: createdb NAME."),
}


class StoreRefused(NetdynoError):
    """The database takes or gives nothing now, whatever it is asked: full, locked, read-only, not reached."""


@contextmanager
def explained(place: Place) -> Iterator[None]:
    """Turn what the driver raises into one line for the user, without any password."""
    try:
        yield
    except DBAPIError as error:
        explanation = _explain(error, place)
        if isinstance(error, OperationalError | InterfaceError):
            raise StoreRefused(explanation.args[0], hint=explanation.hint) from error
        raise explanation from error
    except (ValueError, RecursionError) as error:  # of the driver, which cannot read what is in a column
        words = place.without_secrets(str(error).partition("\n")[0])
        raise NetdynoError(f"{place.shown} holds what cannot be read: {shortened(words)}.", hint=DAMAGED) from error


def _explain(error: DBAPIError, place: Place) -> NetdynoError:
    name = getattr(error.orig, "sqlite_errorname", None)
    state = getattr(error.orig, "sqlstate", None)
    words = place.without_secrets(str(error.orig).strip().partition("\n")[0][:300])
    for start, (message, hint) in SQLITE.items():
        if name and name.startswith(start):
            return NetdynoError(message.format(place.shown), hint=hint)
    if state in POSTGRES_STATES:
        message, hint = POSTGRES_STATES[state]
        return NetdynoError(message.format(place.shown), hint=hint)
    if place.path is None and state is None:
        return _not_let_in(words, place)
    return NetdynoError(f"{place.shown} refused: {words}.", hint=DAMAGED if place.path else "")


def _not_let_in(words: str, place: Place) -> NetdynoError:
    for part, (message, hint) in POSTGRES_WORDS.items():
        if part in words:
            return NetdynoError(message.format(place.shown), hint=hint)
    hint = "Is the server running, and are host and port right?"
    return NetdynoError(f"cannot reach {place.shown}: {words}.", hint=hint)
