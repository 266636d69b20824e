"""Whether this machine is a guest: under which hypervisor, in which container."""

import re
from pathlib import Path

from netdyno.devices.system_files import read_fields, read_text

_VENDORS = {
    "qemu": "KVM/QEMU",
    "kvm": "KVM/QEMU",
    "amazon ec2": "Amazon EC2",
    "google": "Google Compute Engine",
    "vmware": "VMware",
    "innotek": "VirtualBox",
    "xen": "Xen",
    "microsoft corporation virtual": "Hyper-V",
    "openstack": "OpenStack",
    "apple virtualization": "Apple",
    "parallels": "Parallels",
}


def find_hypervisor(root: Path) -> str:
    """Its name, 'unnamed' where the processor only says that there is one, empty where there is no sign of one."""
    if "microsoft" in (read_text(root, "/proc/sys/kernel/osrelease") or "").lower():
        return "WSL"
    if kind := read_text(root, "/sys/hypervisor/type"):
        return kind.capitalize()
    dmi = [read_text(root, f"/sys/class/dmi/id/{name}") or "" for name in ("sys_vendor", "product_name")]
    cpu = read_fields(root, "/proc/cpuinfo")
    is_guest = "hypervisor" in cpu.get("flags", "").split()
    # Amazon's and Google's bare-metal machines carry the vendor's name too: there the flag decides.
    if is_guest or "flags" not in cpu:
        for mark, name in _VENDORS.items():
            if mark in " ".join(dmi).lower():
                return name
    return "unnamed" if is_guest else ""


def find_container(root: Path) -> str:
    """Its kind, such as 'docker'; empty where there is no sign of one."""
    if kind := read_text(root, "/run/systemd/container"):
        return kind
    if (root / "run/.containerenv").exists():
        return "podman"
    if (root / ".dockerenv").exists():
        return "docker"
    groups = read_text(root, "/proc/1/cgroup") or ""
    match = re.search(r"kubepods|docker|lxc|libpod", groups)
    return {"kubepods": "kubernetes", "libpod": "podman"}.get(match[0], match[0]) if match else ""
