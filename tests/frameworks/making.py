"""What these tests make: spec files, hand-made wheels, interpreters that have a framework."""

import subprocess
import sys
import zipfile
from pathlib import Path

SPEC = {
    "name": "tiny",
    "title": "Tiny",
    "adapter": "null",
    "module": "tinyframework",
    "distribution": "tinyframework",
    "versions": ">=1,<2",
    "python": ">=3.11",
    "requirements": ["tinyframework==1.0"],
    "devices": ["cpu"],
    "executions": ["eager"],
    "precisions": ["float32"],
}


def write_spec(folder: Path, **changes: object) -> Path:
    """A spec file in the folder; a field changed to None is left out."""
    fields = {name: value for name, value in (SPEC | changes).items() if value is not None}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{fields.get('name', 'nameless')}.toml"
    path.write_text("".join(f"{name} = {value!r}\n" for name, value in fields.items()))
    return path


def write_wheel(folder: Path, version: str = "1.0") -> Path:
    """The smallest wheel that pip installs: one module that says its version."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"tinyframework-{version}.dist-info"
    files = {
        "tinyframework.py": f"__version__ = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tinyframework\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    path = folder / f"tinyframework-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(name, text)
    return path


def make_python(folder: Path, version: str | None = "1.0", numpy: bool = True) -> Path:
    """An interpreter of its own, with the tiny framework in that version (None: without it)."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    if numpy:
        (packages / "numpy.py").write_text("")
    if version is not None:
        with zipfile.ZipFile(write_wheel(folder / "wheels", version)) as wheel:
            wheel.extractall(packages)
    return folder / "bin" / "python"
