"""Fake /proc and /sys trees."""

from pathlib import Path

SERVER = {
    "proc/cpuinfo": "".join(
        f"processor\t: {n}\nmodel name\t: Example  CPU @ 2.0GHz\nphysical id\t: 0\ncore id\t: {n % 4}\n"
        "flags\t: fpu avx2\n\n"
        for n in range(8)
    ),
    "proc/meminfo": "MemTotal: 67108864 kB\nMemAvailable: 50331648 kB\nSwapTotal: 1048576 kB\nSwapFree: 1048576 kB\n",
    "proc/loadavg": "0.10 0.20 0.30 1/200 4242\n",
    "proc/stat": "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 2 3\n",
    "proc/self/status": "Name:\tpython\nCpus_allowed_list:\t0-7\n",
    "proc/self/cgroup": "0::/user.slice/session\n",
    "proc/sys/kernel/osrelease": "6.1.0-example\n",
    "etc/os-release": 'NAME="Example"\nPRETTY_NAME="Example OS 12"\n',
    "sys/devices/system/cpu/online": "0-7\n",
    "sys/devices/system/cpu/smt/active": "1\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/cpu/intel_pstate/no_turbo": "1\n",
}


def write_tree(root: Path, files: dict[str, str]) -> Path:
    """The files under the root folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root
