"""Opening NVML, the library of NVIDIA's driver, and its errors in plain words."""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Nvml = Any  # the module pynvml, or a fake with the same calls


class NoLibrary(Exception):
    """This machine has no NVML, so it has no NVIDIA driver and no GPU to read."""


class NoAnswer(Exception):
    """NVML is installed, but the driver does not answer; the text gives the reason."""


def start_nvml(nvml: Nvml | None = None) -> Nvml:
    """The module, initialised. Raises NoLibrary or NoAnswer."""
    nvml = _load() if nvml is None else nvml
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        if error.value == nvml.NVML_ERROR_LIBRARY_NOT_FOUND:
            raise NoLibrary("the driver's library NVML is not installed") from None
        raise NoAnswer(f"NVML: {error}") from None
    return nvml


@contextmanager
def opened(nvml: Nvml | None = None) -> Iterator[Nvml]:
    """NVML for the duration of a block; an NVML error within it becomes a NoAnswer."""
    nvml = start_nvml(nvml)
    try:
        yield nvml
    except refusals(nvml) as error:
        raise NoAnswer(f"NVML: {error}") from None
    finally:
        find_answer(nvml, nvml.nvmlShutdown)


def refusals(nvml: Nvml) -> tuple[type[Exception], ...]:
    """What NVML raises; the second kind comes from calls that an old driver has only in an older form."""
    return (nvml.NVMLError, nvml.NVMLLibraryMismatchError)


def find_answer(nvml: Nvml, ask: Callable[..., Any], *arguments: Any) -> Any | None:
    """What a call returns; None where NVML raises."""
    try:
        return ask(*arguments)
    except refusals(nvml):
        return None


def in_words(nvml: Nvml, error: Exception) -> str:
    """Why a reading failed, for a reader who does not know NVML."""
    known = {
        nvml.NVML_ERROR_NOT_SUPPORTED: "this GPU does not offer it",
        nvml.NVML_ERROR_INVALID_ARGUMENT: "this driver does not know it",
        nvml.NVML_ERROR_NO_PERMISSION: "no permission to read it",
        nvml.NVML_ERROR_FUNCTION_NOT_FOUND: "this driver is too old to report it",
        nvml.NVML_ERROR_GPU_IS_LOST: "the GPU is lost: it no longer answers the driver",
        nvml.NVML_ERROR_RESET_REQUIRED: "the GPU is lost: it must be reset first",
    }
    if isinstance(error, nvml.NVMLLibraryMismatchError):
        return known[nvml.NVML_ERROR_FUNCTION_NOT_FOUND]
    return known.get(getattr(error, "value", None), f"NVML: {error}")


def is_loss(nvml: Nvml, error: Exception) -> bool:
    """Whether the whole GPU is gone, not only one reading."""
    lost = (
        nvml.NVML_ERROR_GPU_IS_LOST,
        nvml.NVML_ERROR_RESET_REQUIRED,
        nvml.NVML_ERROR_GPU_NOT_FOUND,
        nvml.NVML_ERROR_DRIVER_NOT_LOADED,
        nvml.NVML_ERROR_UNINITIALIZED,
    )
    return getattr(error, "value", None) in lost


def _load() -> Nvml:
    try:
        return importlib.import_module("pynvml")  # by name: it has no types, and only GPU machines need it
    except ImportError:
        raise NoLibrary("the package nvidia-ml-py is not installed") from None
