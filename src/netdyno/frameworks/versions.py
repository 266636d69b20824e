"""Whether a version lies in a range such as '>=3.11,<3.15'."""

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version


def is_range(text: str) -> bool:
    """Whether the text is one or more bounds with commas between them."""
    try:
        return len(SpecifierSet(text)) > 0
    except InvalidSpecifier:
        return False


def fits(version: str, bounds: str) -> bool:
    """Only the leading numbers count: '2.13.0+cpu' and '2.13.0rc1' are 2.13.0; without a number nothing fits."""
    release = re.match(r"v?\d+(\.\d+)*", version.strip())
    return release is not None and SpecifierSet(bounds).contains(release[0])


def lowest(bounds: str) -> str:
    """The version at which a range starts, to name one that fits; empty if it has no start."""
    starts = [bound.version for bound in SpecifierSet(bounds) if bound.operator in (">=", "==", "~=")]
    return min(starts, key=Version, default="")
