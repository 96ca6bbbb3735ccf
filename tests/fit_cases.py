"""What other people saw when they loaded models on Macs, and which of those rows count.

tests/data/fit_cases.csv holds facts out of public threads, 93 rows; its column `source` names them.
A row counts when it is about a dense model (all weights are used for each inference), tells its
size and the RAM, and came to a clear end. The tables below were made by reading, before scoring.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

from harness.verdict import Verdict

FILE = Path(__file__).parent / "data" / "fit_cases.csv"

A_PART = "a mixture of experts: a part of the weights is used for each token"
LEFT_OUT = {
    "1": A_PART, "2": A_PART, "3": A_PART,  # Qwen3.5-35B-A3B
    "38": A_PART, "39": A_PART, "41": A_PART, "105": A_PART,  # gpt-oss-20b
    "42": A_PART, "43": A_PART, "45": A_PART, "46": A_PART,  # Laguna
    "86": A_PART, "98": A_PART,  # gemma-4-26b-a4b, as Rapid-MLX#324 spells it
    "94": A_PART, "95": A_PART,  # mixtral
    "97": A_PART,  # 60 tokens a second of 19 GB are 1140 GB/s, and an M2 Pro reads 200
    "109": A_PART, "110": A_PART,  # 31 a second of 102 GB are 3200 GB/s, an M4 Max reads 546
    "111": A_PART,  # 92 a second of 63 GB are 5800 GB/s, an M5 Max reads 614
    "114": "its weights are streamed from the SSD on purpose",
    "101": "one array, not a model: the longest buffer decided (its own test below)",
    "102": "one mapping, not a model: the longest buffer decided (its own test below)",
}  # fmt: skip
ONE_BUFFER = ("101", "102")

MISSES = {
    "47": "slow without any swap, and too slow for the bandwidth to be why: no cause was found",
    "49": "an editor and a browser held 6 to 8 GB: a prediction from the RAM does not know them",
    "65": "an older version of the program was fine on the same machine",
    "66": "8.6 GB of context cache and 1.1 GB of scratch beside 3.8 GB of weights",
    "67": "the program wired all memory that Metal allows, whatever the model's size",
    "69": "a fault of the GPU's driver (completeMemory() prepare count underflow)",
}
"""Rows that are predicted wrong, and why."""

ENDS = ("OOM", "crash", "killed", "freeze", "panic", "fail")


@dataclass(frozen=True, slots=True)
class Case:
    """One row that counts."""

    number: str
    ram_bytes: int
    devices: tuple[str, ...]
    macos: str | None
    weights_bytes: int
    verdict: Verdict
    """What was seen, in memcliff's words."""
    text: str


def rows() -> list[dict[str, str]]:
    with FILE.open(newline="") as file:
        return list(csv.DictReader(file))


def verdict_of(outcome: str) -> Verdict | None:
    """Classify an outcome; None where it is not clear."""
    if outcome.startswith(("ok, tight", "ok with swap")):
        return Verdict.TIGHT
    if outcome.startswith("ok"):
        return Verdict.FITS
    if outcome.startswith("slow"):
        return Verdict.THRASHES
    return Verdict.FAILS if any(word in outcome for word in ENDS) else None


def devices_of(path: str) -> tuple[str, ...]:
    """Read the path; where it tells neither or both, both have to be predicted right."""
    if path.startswith("gpu"):
        return ("gpu",)
    return ("cpu",) if path.startswith("cpu") and "gpu" not in path else ("cpu", "gpu")


def is_complete(row: dict[str, str]) -> bool:
    """Tell whether a row has a size, the RAM and a clear outcome."""
    known = row["model_gb_decimal"] and row["ram_gb"]
    return bool(known) and verdict_of(row["outcome"]) is not None


def case_of(row: dict[str, str]) -> Case:
    verdict = verdict_of(row["outcome"])
    assert verdict is not None
    return Case(
        number=row["id"],
        ram_bytes=int(row["ram_gb"]) * 2**30,
        devices=devices_of(row["path"]),
        macos=row["macos"] or None,
        weights_bytes=round(float(row["model_gb_decimal"]) * 1e9),
        verdict=verdict,
        text=f"{row['model']} on {row['chip']}, {row['ram_gb']} GB, {row['path']}: "
        f"{row['outcome']} ({row['source']})",
    )


def cases() -> list[Case]:
    """Give the rows that count."""
    return [case_of(row) for row in rows() if is_complete(row) and row["id"] not in LEFT_OUT]
