"""What is read when, with a fake NVML and a fake clock."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.devices.fake_nvml import FakeClock, FakeNvml

from netdyno.devices.monitor.gpu import LONGEST_S, SHORTEST_S, NvidiaGpu, open_gpu
from netdyno.devices.monitor.host import open_host
from netdyno.devices.monitor.recorder import Recorder, baseline
from netdyno.devices.monitor.trace import Fact, Trace, read_trace
from netdyno.runtime.readings.energy import during, joules_by_counter


class Bench:
    """A recorder of the host and fake GPUs, after its baseline."""

    def __init__(self, gpus: int = 1, **settings: Any) -> None:
        self.clock = FakeClock()
        self.nvml = FakeNvml(clock=self.clock, count=gpus, **settings)
        self.gpus = [open_gpu(self.nvml, index, f"gpu{index}", gpus=gpus) for index in range(gpus)]
        self.gpu: NvidiaGpu = self.gpus[0]
        self.recorder = Recorder(sensors=[open_host(Path("/nowhere")), *self.gpus])
        self.recorder.start()
        self.began = self.clock.now
        lines = baseline(self.recorder, self.clock, self.clock.sleep)
        self.text = self.recorder.head() + lines

    def go_on(self, seconds: float) -> None:
        end = self.clock.now + seconds
        while self.clock.now < end:
            self.clock.now = max(self.recorder.next_due(), self.clock.now)
            self.text += self.recorder.tick(self.clock)

    def trace(self, folder: Path) -> Trace:
        (folder / "monitor.csv").write_text(self.text)
        return read_trace(folder / "monitor.csv")


@pytest.mark.parametrize("refresh_s", [0.1, 0.04, 0.025])
def test_the_refresh_is_found_and_looked_at_more_than_twice(refresh_s: float) -> None:
    gpu = Bench(refresh_s=refresh_s).gpu
    assert gpu.refresh_s == pytest.approx(refresh_s, abs=0.003)
    assert gpu.period_s == pytest.approx(max(0.382 * refresh_s, SHORTEST_S), abs=0.002)


def test_a_power_that_never_changes_tells_no_refresh_and_is_read_20_times_a_second() -> None:
    gpu = Bench(refresh_s=None).gpu
    assert gpu.refresh_s is None
    assert gpu.period_s == LONGEST_S == 0.05


@pytest.mark.parametrize(("refresh_s", "period_s"), [(0.004, SHORTEST_S), (0.16, LONGEST_S)])
def test_however_fast_or_slow_the_device_the_period_stays_in_its_bounds(refresh_s: float, period_s: float) -> None:
    assert Bench(refresh_s=refresh_s).gpu.period_s == period_s


def test_the_refresh_is_found_by_the_average_where_the_instant_is_not_told() -> None:
    bench = Bench(refused={"field 186": 3})
    assert bench.nvml.calls["field 185"] > 100


def test_the_baseline_is_in_the_trace_before_the_worker_is_told(tmp_path: Path) -> None:
    bench = Bench()
    trace = bench.trace(tmp_path)
    power = trace.series("gpu0.power_instant_w")
    assert bench.clock.now - bench.began >= 0.35
    assert power[0][0] == bench.began
    assert power[-1][0] - power[0][0] >= 0.3
    assert trace.refresh_s["gpu0"] == pytest.approx(0.1, abs=0.003)
    assert trace.facts["gpu0"]["name"] == "NVIDIA H200"


def test_a_gpu_is_read_at_26_hertz_its_counter_at_13_and_the_host_at_5(tmp_path: Path) -> None:
    bench = Bench()
    bench.go_on(10.0)
    trace = bench.trace(tmp_path)
    seconds = bench.clock.now - bench.began
    counts = [len(trace.series(n)) for n in ("gpu0.power_instant_w", "gpu0.energy_j", "host.busy_cpu_s")]
    assert [count / seconds for count in counts] == pytest.approx([26, 13, 5], rel=0.05)


def test_the_counter_and_the_power_agree_as_the_fake_has_them(tmp_path: Path) -> None:
    bench = Bench()
    bench.go_on(10.0)
    (start, first_j), *_, (end, last_j) = bench.trace(tmp_path).series("gpu0.energy_j")
    assert (last_j - first_j) / (end - start) == pytest.approx(80, rel=0.02)


@pytest.mark.parametrize("refresh_s", [0.0999, 0.1, 0.1001, 0.04])
def test_a_counter_is_never_read_in_step_with_its_renewals(tmp_path: Path, refresh_s: float) -> None:
    """In step, one of a hundred seconds has a look that is late by a renewal more than those before it."""
    bench = Bench(refresh_s=refresh_s)
    bench.go_on(120.0)
    counter = bench.trace(tmp_path).series("gpu0.energy_j")
    starts = [bench.began + quarter / 4 for quarter in range(4, 460)]
    watts = [joules_by_counter(during(counter, start, start + 2.5), 1.0) for start in starts]
    assert watts == pytest.approx([80.0] * len(watts), rel=0.01)


def test_a_gpu_lost_in_the_middle_ends_its_own_readings_only(tmp_path: Path) -> None:
    bench = Bench()
    bench.go_on(1.0)
    bench.nvml.lost_after_calls = bench.nvml.calls.total()
    lost_at = bench.clock.now
    bench.go_on(2.0)
    trace = bench.trace(tmp_path)
    assert trace.series("gpu0.power_instant_w")[-1][0] <= lost_at + 1e-6  # the trace counts microseconds
    assert trace.series("host.busy_cpu_s")[-1][0] > lost_at + 1.5
    assert "lost" in trace.missing["gpu0.energy_j"]
    assert trace.problem == ""
    assert bench.text.count("is lost") == len(trace.names) - 4  # told once for each of its readings


def test_a_sensor_that_breaks_ends_alone(tmp_path: Path) -> None:
    bench = Bench()
    bench.gpu.processes = None  # type: ignore[assignment]
    bench.go_on(1.0)
    trace = bench.trace(tmp_path)
    assert "reading it failed" in trace.missing["gpu0.power_instant_w"]
    assert trace.series("host.busy_cpu_s")[-1][0] > bench.clock.now - 0.3


def test_the_workers_memory_on_the_gpu_is_told_from_a_strangers(tmp_path: Path) -> None:
    bench = Bench(processes=[(123456789, 5)])
    bench.recorder.watch([4242])
    bench.nvml.processes = [(123456789, 5), (4242, 2**30)]
    bench.go_on(0.5)
    trace = bench.trace(tmp_path)
    assert {value for _, value in trace.series("gpu0.process_bytes")} == {2**30}
    assert {value for _, value in trace.series("gpu0.processes")} == {1, 2}


@pytest.mark.parametrize(("gpus", "counter_hz"), [(2, 13), (8, 8.7)])
def test_every_gpu_of_a_run_has_its_own_columns_and_is_read_as_often_as_one(
    tmp_path: Path, gpus: int, counter_hz: float
) -> None:
    """The counters take a quarter of the monitor's time at most, so those of eight GPUs are read less often."""
    bench = Bench(gpus)
    bench.go_on(10.0)
    trace, seconds = bench.trace(tmp_path), bench.clock.now - bench.began
    assert trace.gpus == tuple(f"gpu{index}" for index in range(gpus))
    for index, name in enumerate(trace.gpus):
        power, counter = trace.series(f"{name}.power_instant_w"), trace.series(f"{name}.energy_j")
        assert {round(value) for _, value in power} == {80 + 10 * index}
        assert joules_by_counter(counter, 1.0) == pytest.approx(80 + 10 * index, rel=0.01)
        assert [len(power) / seconds, len(counter) / seconds] == pytest.approx([26, counter_hz], rel=0.05)


def test_of_eight_gpus_one_that_is_lost_ends_alone(tmp_path: Path) -> None:
    bench = Bench(8)
    bench.go_on(1.0)
    lost_at = bench.clock.now
    bench.nvml.lost_cards.add(5)
    bench.go_on(1.0)
    trace = bench.trace(tmp_path)
    last = {name: trace.series(f"{name}.power_instant_w")[-1][0] for name in trace.gpus}
    assert [name for name, at in last.items() if at <= lost_at + 1e-6] == ["gpu5"]
    assert {name.partition(".")[0] for name in trace.missing if name.startswith("gpu")} == {"gpu5"}


@pytest.mark.parametrize("ranks", [2, 4])
def test_each_gpu_counts_the_processes_of_its_own_ranks(tmp_path: Path, ranks: int) -> None:
    pids = [123450001 + rank for rank in range(ranks)]
    bench = Bench(ranks)
    bench.recorder.watch(pids)
    bench.nvml.processes = [(pid, 2**30 * (rank + 1), rank) for rank, pid in enumerate(pids)]
    bench.nvml.processes += [(123459999, 7, 0)]  # somebody else
    bench.go_on(0.5)
    trace = bench.trace(tmp_path)
    for rank, name in enumerate(trace.gpus):
        assert trace.series(f"{name}.process_bytes")[-1][1] == 2**30 * (rank + 1)
        assert trace.series(f"{name}.own_processes")[-1][1] == 1
        assert trace.series(f"{name}.processes")[-1][1] == (2 if rank == 0 else 1)


class SlowSensor:
    """A sensor that takes 5 ms to be read."""

    facts: ClassVar[dict[str, Fact]] = {}
    readings, missing = ("value",), {}
    baseline_s, refresh_s, period_s = 0.0, None, 0.1

    def __init__(self, name: str, clock: FakeClock) -> None:
        self.name, self.clock = name, clock

    def poll(self, at: float) -> None: ...

    def watch(self, pids: Sequence[int]) -> None: ...

    def read(self, at: float) -> dict[str, float]:
        self.clock.sleep(0.005)
        return {"value": at}


def test_each_sensor_is_written_with_the_time_of_its_own_reading(tmp_path: Path) -> None:
    clock = FakeClock()
    recorder = Recorder(sensors=[SlowSensor(f"gpu{index}", clock) for index in range(8)])
    recorder.start()
    (tmp_path / "monitor.csv").write_text(recorder.head() + recorder.tick(clock))
    trace = read_trace(tmp_path / "monitor.csv")
    assert [trace.series(f"{name}.value")[0][0] for name in trace.gpus] == [1000 + 0.005 * n for n in range(8)]
