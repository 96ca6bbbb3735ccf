"""What is said of a drift: one line for each long trial."""

from harness.drift import Finding, Slope, Trend, finding_of
from harness.ladder import reads_all
from harness.records import Record
from harness.sizes import show_bytes, show_count

TIME = {Trend.GROWS: "it slows down", Trend.FALLS: "it gets faster"}
MEMORY = {Trend.GROWS: "memory leaks", Trend.FALLS: "memory falls"}


def drift_line(record: Record) -> str:
    """Say whether a trial drifted, by how much, and of what; empty where that was not measured."""
    found = finding_of(record)
    if found is None:
        return ""
    model = record.model
    where = f" on the {model.device_asked.upper()}" if model.device_asked else ""
    trial = f"trial {record.key.trial}, {show_bytes(model.weights_bytes or 0)}{where}"
    told = [_time(found.slower), _memory(found.grown)]
    if record.condition.thermal is not None:
        told.append(f"heat when it began: {record.condition.thermal}")
    count = show_count(found.inferences, "inference")
    return f"Drift: {trial}, {count}: {_finding(found, _read(record))} ({'; '.join(told)})."


def _read(record: Record) -> str:
    return "weights" if reads_all(record.model.arch) else "weights that it reads"


def _finding(found: Finding, read: str) -> str:
    parts = [MEMORY.get(found.memory) if found.memory else None, TIME.get(found.time)]
    said = " and ".join(part for part in parts if part)
    if not said:
        noise = "" if found.sure else ", as far as the noise lets tell"
        return f"no drift{'' if found.memory else ' in time'}{noise}"
    if found.returning is not None:
        # Weights that come back are resident again, and waited for.
        said = said.replace(MEMORY[Trend.GROWS], "memory grows")
        return f"{said}, while {found.returning:.1%} of the {read} come back for each inference"
    if found.time is Trend.GROWS and found.memory is Trend.STEADY:
        return f"{said}: heat or other programs, not memory"
    return said


def _time(slower: Slope) -> str:
    low, high = _percent(slower.low), _percent(slower.high)
    return f"time {_percent(slower.middle)} over the trial, 95% interval {low} to {high}"


def _memory(grown: Slope | None) -> str:
    if grown is None:
        return "too few samples to tell of memory, which --hz makes more"
    return f"memory {_bytes(grown.middle)}, {_bytes(grown.low)} to {_bytes(grown.high)}"


def _percent(share: float) -> str:
    return f"{round(share, 3) + 0.0:+.1%}"  # + 0.0 makes -0.0 a zero


def _bytes(amount: float) -> str:
    shown = show_bytes(abs(amount))
    return shown if amount == 0 else f"{'+' if amount > 0 else '-'}{shown}"
