"""Which values lie where in an LMDB database? Its tree is walked here, every pointer checked against the file.

The library itself maps the file into memory and trusts it: a cut or damaged one ends the process. This reader
refuses it instead, and what it finds are plain offsets, which any process may read."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from netdyno.data.codecs.spans import File

_MAGIC, _VERSION = 0xBEEFC0DE, 1
# Magic, version, page size; of the main tree: flags, depth, entries, root; last page, transaction.
_META = struct.Struct("<16xII16xI44x4xHH24xQQQQ")
_PAGE = struct.Struct("<QHHHH")  # page number, padding, flags, lower and upper end of free space
_NODE = struct.Struct(
    "<HHHH"
)  # two halves of a size, flags and a key's size; in branches three parts of a page number
_BRANCH, _LEAF, _OVERFLOW = 1, 2, 4
_IN_OVERFLOW = 1
_NO_PAGE = 2**64 - 1
_PAGE_SIZES = [2**n for n in range(9, 17)]
_DEEPEST = 32


@dataclass(frozen=True, slots=True)
class Value:
    """A key and where its value lies."""

    key: bytes
    offset: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tree:
    """The main tree of a database, as the newer of its two headers has it."""

    file: File
    page_bytes: int
    flags: int
    depth: int
    entries: int
    root: int
    last_page: int
    transaction: int


def values(file: File) -> Iterator[Value]:
    """All of them, sorted by key."""
    first = _tree(file, 0)
    tree = max(first, _tree(file, first.page_bytes), key=lambda tree: tree.transaction)
    _check(tree)
    count, last = 0, None
    for value in _below(tree, tree.root, tree.depth):
        if last is not None and value.key <= last:
            raise file.wrong(value.offset, f"expected a key behind {last!r}, received {value.key!r}")
        count, last = count + 1, value.key
        yield value
    if count != tree.entries:
        raise file.wrong(0, f"expected {tree.entries} values as the header says, received {count}")


def _tree(file: File, at: int) -> _Tree:
    magic, version, page_bytes, flags, depth, entries, root, last, number = _META.unpack(file.read(at, _META.size))
    if (magic, version) != (_MAGIC, _VERSION) or page_bytes not in _PAGE_SIZES:
        found = f"{magic:#x}, version {version}, pages of {page_bytes} bytes"
        raise file.wrong(
            at, f"expected the header of an LMDB database ({_MAGIC:#x}, version {_VERSION}), received {found}"
        )
    return _Tree(
        file=file,
        page_bytes=page_bytes,
        flags=flags,
        depth=depth,
        entries=entries,
        root=root,
        last_page=last,
        transaction=number,
    )


def _check(tree: _Tree) -> None:
    pages = tree.file.size // tree.page_bytes
    if tree.last_page >= pages:
        raise tree.file.wrong(
            tree.file.size, f"expected {tree.last_page + 1} pages, received {pages}: the end is missing"
        )
    if tree.flags or tree.depth > _DEEPEST or (tree.root == _NO_PAGE) != (tree.depth == 0):
        raise tree.file.wrong(0, f"expected a plain tree, received flags {tree.flags:#x} and depth {tree.depth}")


def _below(tree: _Tree, number: int, depth: int) -> Iterator[Value]:
    """The values in a page and those it leads to."""
    if depth == 0:
        return
    at = number * tree.page_bytes
    page = _page(tree, number, _LEAF if depth == 1 else _BRANCH)
    for node in _nodes(tree, at, page):
        if depth == 1:
            yield _value(tree, at + node, (page, node))
        else:
            low, middle, high, _ = _NODE.unpack_from(page, node)
            yield from _below(tree, low | middle << 16 | high << 32, depth - 1)


def _page(tree: _Tree, number: int, kind: int) -> bytes:
    """A page, if it says of itself that it is this one and of this kind."""
    at = number * tree.page_bytes
    if number > tree.last_page:
        raise tree.file.wrong(0, f"expected at most {tree.last_page + 1} pages, received a pointer to page {number}")
    page = tree.file.read(at, _PAGE.size if kind == _OVERFLOW else tree.page_bytes)
    own_number, _, flags, _, _ = _PAGE.unpack_from(page)
    if own_number != number or flags & 0x0F != kind:
        found = f"number {own_number}, kind {flags:#x}"
        raise tree.file.wrong(at, f"expected page {number} of kind {kind}, received {found}")
    return page


def _nodes(tree: _Tree, at: int, page: bytes) -> tuple[int, ...]:
    """Where a page's nodes begin in it."""
    _, _, _, lower, upper = _PAGE.unpack_from(page)
    if not _PAGE.size < lower <= upper <= tree.page_bytes or lower % 2:
        raise tree.file.wrong(at, f"expected a page with nodes, received bounds {lower} and {upper}")
    places: tuple[int, ...] = struct.unpack_from(f"<{(lower - _PAGE.size) // 2}H", page, _PAGE.size)
    if min(places) < upper or max(places) + _NODE.size > tree.page_bytes:
        raise tree.file.wrong(
            at, f"expected nodes from byte {upper} of a page on, received {min(places)} and {max(places)}"
        )
    return places


def _value(tree: _Tree, at: int, page_node: tuple[bytes, int]) -> Value:
    """What a leaf's node says: its value follows the key, or begins on a page of its own."""
    page, node = page_node
    low, high, flags, key_bytes = _NODE.unpack_from(page, node)
    length, begin = low | high << 16, node + _NODE.size + key_bytes
    end = begin + (8 if flags & _IN_OVERFLOW else length)
    if flags & ~_IN_OVERFLOW or end > tree.page_bytes:
        raise tree.file.wrong(at, f"expected a plain value inside its page, received flags {flags:#x}, end {end}")
    key = page[begin - key_bytes : begin]
    if not flags:
        return Value(key, at + begin - node, length)
    (number,) = struct.unpack_from("<Q", page, begin)
    pages = int.from_bytes(_page(tree, number, _OVERFLOW)[12:16], "little")
    if number + pages > tree.last_page + 1 or _PAGE.size + length > pages * tree.page_bytes:
        raise tree.file.wrong(at, f"expected a value of {length} bytes on {pages} pages from {number}, received less")
    return Value(key, number * tree.page_bytes + _PAGE.size, length)
