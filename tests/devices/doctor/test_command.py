"""netdyno doctor on a machine with a GPU, which a fake pynvml stands for."""

from pathlib import Path

from tests.conftest import Netdyno
from tests.devices.fake_nvml import write_module


def test_doctor_tells_the_state_of_a_gpu_and_what_holds_it_down(netdyno: Netdyno, tmp_path: Path) -> None:
    fake = write_module(tmp_path / "fake", mask=0x48, processes=[[123456789, 2**30]], cap_mw=350_000)
    netdyno.environment["PYTHONPATH"] = str(fake)
    document = netdyno.json("doctor")
    (gpu,) = document["machine"]["gpus"]
    assert (gpu["name"], gpu["power_cap_w"], gpu["sm_clock_mhz"]) == ("NVIDIA H200", 350.0, 1980)
    (state,) = document["gpu_states"]
    assert state["readings"]["temperature_c"] == 33
    states = {finding["what"]: finding["state"] for finding in document["findings"]}
    assert states["GPU 0 clocks"] == states["GPU processes"] == "bad"
    assert (states["GPU 0 power cap"], states["GPU 0 memory"]) == ("weak", "good")


def test_doctor_shows_it_in_words(netdyno: Netdyno, tmp_path: Path) -> None:
    netdyno.environment |= {"PYTHONPATH": str(write_module(tmp_path / "fake")), "COLUMNS": "100"}
    shown = netdyno("doctor").stdout
    for words in (
        "80 of 700 W",
        "345 of 1980 MHz",
        "33 °C",
        "0.0 of 140.4 GiB",
        "PCIe 5 ×16",
        "not lowered",
    ):
        assert words in shown
