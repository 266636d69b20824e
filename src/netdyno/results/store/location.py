"""Which database a location names, and how it may be shown without its password."""

import re
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from netdyno.errors import NetdynoError

EXPECTED = "Expected the path of a SQLite file or postgresql://USER:PASSWORD@HOST/DATABASE."
POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A database: where SQLAlchemy finds it, what to call it, and what must never be shown."""

    url: URL
    shown: str
    path: Path | None = None  # of the SQLite file; None for a server
    secrets: tuple[str, ...] = ()

    def without_secrets(self, text: str) -> str:
        """Some text of a driver or a server, fit for a message."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def read_location(location: str) -> Place:
    """The place that a path or a URL names; nothing is opened yet."""
    if not location.strip() or "\0" in location:
        raise NetdynoError(f"no place for results in {location!r}.", hint=EXPECTED)
    if "://" not in location:
        return _file(Path(location))
    url = _parsed(location)
    if url.drivername in ("sqlite", "sqlite+pysqlite"):
        if not url.database or url.database == ":memory:":
            raise NetdynoError("results cannot be kept in memory.", hint=EXPECTED)
        return _file(Path(url.database))
    if url.drivername in POSTGRES:
        return _server(url)
    raise NetdynoError(f"results cannot be kept in a database of kind '{url.drivername}'.", hint=EXPECTED)


def _file(path: Path) -> Place:
    try:
        path = path.expanduser().absolute()
    except RuntimeError as error:
        raise NetdynoError(f"no folder '{path.parts[0]}': {error}", hint=EXPECTED) from error
    return Place(url=URL.create("sqlite", database=str(path)), shown=f"'{path}'", path=path)


def _parsed(location: str) -> URL:
    try:
        url = make_url(location)
    except (ArgumentError, ValueError):
        # Where the password stands is unknown here, so nothing after the scheme is repeated, nor chained.
        scheme = location.partition("://")[0]
        shown = f"{scheme}://…" if re.fullmatch(r"[a-z][a-z0-9+]*", scheme) else "the URL"
        message = f"{shown} is not a database URL."
        raise NetdynoError(message, hint=f"{EXPECTED} Write @ : / in a password as %40 %3A %2F.") from None
    return url


def _server(url: URL) -> Place:
    user = f"{url.username}@" if url.username else ""
    port = f":{url.port}" if url.port else ""
    shown = f"postgresql://{user}{url.host or ''}{port}/{url.database or ''}"
    options = (value for key, value in url.query.items() if "password" in key)
    secrets = [url.password, *(part for value in options for part in ([value] if isinstance(value, str) else value))]
    return Place(
        url=url.set(drivername="postgresql+psycopg"),
        shown=shown,
        secrets=tuple(str(secret) for secret in secrets if secret),
    )
