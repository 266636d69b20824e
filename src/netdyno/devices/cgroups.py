"""The CPU time and memory that control groups (v2 and v1) allow this process."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from netdyno.devices.system_files import read_int, read_text

# Version 1 writes "no limit" as a number near the largest there is.
_NO_LIMIT_BYTES = 1 << 60


def cpu_quota(root: Path) -> float | None:
    """How many cores' worth of time the tightest group allows; None if none limits it."""
    quotas = []
    for group in _groups(root, ""):
        quota, _, period = (read_text(root, f"{group}/cpu.max") or "").partition(" ")
        if quota.isdigit() and period.isdigit() and int(period):
            quotas.append(int(quota) / int(period))
    for group in _groups(root, "cpu"):
        quota_us = read_int(root, f"{group}/cpu.cfs_quota_us")
        period_us = read_int(root, f"{group}/cpu.cfs_period_us")
        if quota_us and period_us and quota_us > 0:
            quotas.append(quota_us / period_us)
    return min(quotas, default=None)


def memory_limit_bytes(root: Path) -> int | None:
    """The tightest group's memory limit; None if none limits it."""
    v2 = [read_int(root, f"{group}/memory.max") for group in _groups(root, "")]
    v1 = [read_int(root, f"{group}/memory.limit_in_bytes") for group in _groups(root, "memory")]
    return min((limit for limit in v2 + v1 if limit is not None and limit < _NO_LIMIT_BYTES), default=None)


def _groups(root: Path, controller: str) -> Iterator[str]:
    """The folders of this process's group and of every group above it; '' is version 2."""
    mount = PurePosixPath("/sys/fs/cgroup", controller)
    group = PurePosixPath(_group(root, controller).lstrip("/"))
    for part in (group, *group.parents):
        yield str(mount / part)


def _group(root: Path, controller: str) -> str:
    for line in (read_text(root, "/proc/self/cgroup") or "").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controller in controllers.split(","):
            # A namespaced process may see a path outside its own mount; then the top of the mount applies.
            return "" if ".." in path else path
    return ""
