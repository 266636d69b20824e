"""What limits or disturbs a measurement on one GPU, and what to do about it. Nothing here changes a setting."""

from netdyno.devices.doctor.finding import GIB, Finding, State, unknown
from netdyno.devices.doctor.gpu_state import GpuState
from netdyno.devices.monitor.gpu import throttle_words

MIB = 2**20
FOREIGN_BYTES = 256 * MIB  # less is what an idle card shows anyway
NEAR_C, CLOSE_C = 15, 5  # below the temperature at which the card slows down
_COOLER = "Let it cool down, or check its cooling: a hot GPU lowers its clocks."
_HARD = {"hardware slowdown", "hardware thermal", "software thermal", "power brake"}


def gpu_findings(state: GpuState) -> list[Finding]:
    """Every finding about one GPU, the good ones included."""
    return [
        _throttle(state),
        _power_cap(state),
        _temperature(state),
        _memory(state),
        _errors(state),
        _mig(state),
        _mode(state),
        _persistence(state),
    ]


def _throttle(state: GpuState) -> Finding:
    mask = state.readings.get("throttle")
    if mask is None:
        return _unknown(state, "clocks", "throttle")
    reasons = throttle_words(int(mask))
    if not reasons:
        return _finding(state, "clocks", "good", "not lowered")
    seen = f"lowered: {', '.join(reasons)}"
    if _HARD.intersection(reasons):
        return _finding(state, "clocks", "bad", seen, "Check its cooling and its power supply before measuring.")
    hint = "Something computes on it now, or its clocks were set by hand; figures are valid for these clocks only."
    return _finding(state, "clocks", "weak", seen, hint)


def _power_cap(state: GpuState) -> Finding:
    cap_w, default_w = state.facts.power_cap_w, state.facts.default_power_cap_w
    if cap_w is None or default_w is None:
        return _finding(state, "power cap", "unknown", "not known", "This GPU does not report its power limits.")
    if cap_w >= default_w:
        return _finding(state, "power cap", "good", f"{cap_w:.0f} W")
    hint = "It was lowered; figures are valid for this cap only. To restore it: sudo nvidia-smi -pl "
    return _finding(state, "power cap", "weak", f"{cap_w:.0f} W of {default_w:.0f} W", f"{hint}{default_w:.0f}")


def _temperature(state: GpuState) -> Finding:
    now_c, slowdown_c = state.readings.get("temperature_c"), state.slowdown_c
    if now_c is None:
        return _unknown(state, "temperature", "temperature_c")
    if slowdown_c is None:
        return _finding(state, "temperature", "good" if now_c < 75 else "weak", f"{now_c:.0f} °C", _COOLER)
    left_c = slowdown_c - now_c
    level: State = "good" if left_c >= NEAR_C else "weak" if left_c >= CLOSE_C else "bad"
    seen = f"{now_c:.0f} °C, slows down at {slowdown_c} °C"
    return _finding(state, "temperature", level, seen, _COOLER)


def _memory(state: GpuState) -> Finding:
    used = state.readings.get("memory_used_bytes")
    if used is None:
        return _unknown(state, "memory", "memory_used_bytes")
    total = state.facts.memory_bytes
    seen = f"{used / GIB:.1f} GiB" + (f" of {total / GIB:.1f} GiB" if total else "") + " in use"
    half = used > total / 2 if total else False
    level: State = "good" if used < FOREIGN_BYTES else "bad" if half else "weak"
    return _finding(state, "memory", level, seen, "Other processes hold it; large batches may not fit.")


def _errors(state: GpuState) -> Finding:
    corrected, uncorrected = state.corrected_errors, state.uncorrected_errors
    if not state.facts.ecc:
        seen = "off" if state.facts.ecc is False else "none"
        return _finding(state, "ECC", "good", f"{seen}: memory errors are not counted")
    if corrected is None or uncorrected is None:
        return _finding(state, "ECC", "unknown", "on", "This GPU does not report its number of memory errors.")
    level: State = "bad" if uncorrected else "weak" if corrected else "good"
    hint = (
        "Its memory fails; reset or repair it before measuring." if uncorrected else "Check whether the number grows."
    )
    return _finding(state, "ECC", level, f"on, {corrected} errors corrected, {uncorrected} not", hint)


def _mig(state: GpuState) -> Finding:
    if not state.facts.mig:
        return _finding(state, "MIG", "good", "off")
    hint = "Power and energy are of the whole card, memory and utilisation unknown; others may use its slices."
    return _finding(state, "MIG", "weak", "on", hint)


def _mode(state: GpuState) -> Finding:
    mode = state.facts.compute_mode
    if mode is None:
        return _finding(state, "compute mode", "unknown", "not known", "This GPU does not report its compute mode.")
    hint = "No process may compute on it; an administrator can allow it: sudo nvidia-smi -c DEFAULT"
    return _finding(state, "compute mode", "bad" if mode == "prohibited" else "good", mode, hint)


def _persistence(state: GpuState) -> Finding:
    if state.facts.persistence is None:
        return _finding(
            state, "persistence", "unknown", "not known", "This GPU does not report whether its driver stays loaded."
        )
    if state.facts.persistence:
        return _finding(state, "persistence", "good", "on")
    hint = "The driver unloads when nothing uses the GPU, and loading it takes seconds: sudo nvidia-smi -pm 1"
    return _finding(state, "persistence", "weak", "off", hint)


def _finding(state: GpuState, what: str, level: State, seen: str, hint: str = "") -> Finding:
    """A good finding has no hint."""
    return Finding(what=f"GPU {state.index} {what}", state=level, seen=seen, hint="" if level == "good" else hint)


def _unknown(state: GpuState, what: str, reading: str) -> Finding:
    return unknown(f"GPU {state.index} {what}", state.missing.get(reading, "it did not answer"))
