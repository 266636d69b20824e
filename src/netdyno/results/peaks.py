"""How fast a GPU is by its maker's word: dense FLOP/s by name and precision."""

import re

TERA = 1e12
MAKER_WORDS = re.compile(r"^(NVIDIA |Tesla |GeForce )*")

# TFLOP/s from the vendor's data sheets, at boost clock and without sparsity: a sheet that quotes only the figure with
# sparsity is halved. float32 is what the ordinary units do; tf32, bfloat16 and float16 are the tensor cores with
# float32 accumulation, which is how frameworks train; the P100 has no such cores, but float16 at twice the rate.
# A name must match whole: a slice of a GPU, or a variant that is not listed, has no known peak.
_PEAKS: tuple[tuple[str, dict[str, float]], ...] = (
    # Tesla K20/K20X data sheet, 2012
    (r"K20m", {"float32": 3.52}),
    # Tesla P100 data sheet, 2016
    (r"P100-PCIE-\d+GB", {"float32": 9.3, "float16": 18.7}),
    (r"P100-SXM2-\d+GB", {"float32": 10.6, "float16": 21.2}),
    # V100 data sheet, 2018
    (r"V100-PCIE-\d+GB", {"float32": 14.0, "float16": 112.0}),
    (r"V100-SXM2-\d+GB", {"float32": 15.7, "float16": 125.0}),
    # A100 data sheet, 2021: the same for both forms and memory sizes
    (
        r"A100-(SXM4|PCIE)-\d+GB|A100 80GB PCIe",
        {"float32": 19.5, "tf32": 156.0, "bfloat16": 312.0, "float16": 312.0},
    ),
    # H100 architecture white paper, 2022: SXM5, which the driver names by its memory, and PCIe
    (r"H100 80GB HBM3", {"float32": 66.9, "tf32": 494.7, "bfloat16": 989.4, "float16": 989.4}),
    (r"H100 PCIe", {"float32": 51.2, "tf32": 378.0, "bfloat16": 756.0, "float16": 756.0}),
    # H200 data sheet, 2024: the SXM form; its processor is the H100's
    (r"H200", {"float32": 66.9, "tf32": 494.7, "bfloat16": 989.4, "float16": 989.4}),
    # L4 data sheet, 2023
    (r"L4", {"float32": 30.3, "tf32": 60.0, "bfloat16": 121.0, "float16": 121.0}),
    # L40S data sheet, 2023
    (r"L40S", {"float32": 91.6, "tf32": 183.0, "bfloat16": 362.05, "float16": 362.05}),
    # GA102 white paper, 2020
    (r"RTX 3090", {"float32": 35.6, "tf32": 35.6, "bfloat16": 71.0, "float16": 71.0}),
    # Ada architecture white paper, 2022
    (r"RTX 4090", {"float32": 82.6, "tf32": 82.6, "bfloat16": 165.2, "float16": 165.2}),
    # HGX B200 in the Blackwell data sheet, 2024, per GPU
    (r"B200", {"float32": 75.0, "tf32": 1100.0, "bfloat16": 2250.0, "float16": 2250.0}),
)


def nominal_flops_per_s(gpu: str, precision: str) -> float | None:
    """The peak of the GPU with that name, as its driver spells it; None if it is not known or cannot do that."""
    name = MAKER_WORDS.sub("", gpu)
    for pattern, peaks in _PEAKS:
        if re.fullmatch(pattern, name):
            return peaks[precision] * TERA if precision in peaks else None
    return None
