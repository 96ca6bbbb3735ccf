"""What the answer says of a single row, size or machine, in a few words each."""

from statistics import median

from harness.cap import cap_words
from harness.ladder import read_bytes, reads_all
from harness.noise import counted
from harness.records import Limit, Machine, Phase, Record, Role, Status
from harness.series import Series
from harness.sizes import show_bytes, show_gib, show_seconds
from harness.tried_size import Size
from harness.verdict import STILL_BACK, SWAPPED_OUT_SHARE, Verdict, back, judge

AS_FAST = 1.1
"""Up to so many times slower than its size explains a model is called as fast as small ones."""


def machine_name(
    machine: Machine,
    device: str,
    limit: Limit = Limit(),  # noqa: B008
    model_format: str = "",
) -> str:
    """Name the machine, its cap, the device and the format where there are several.

    As in "this AMD EPYC, 23.5 GiB (CPU)" and "(CPU, keras)".
    """
    name = machine.model_identifier or machine.chip or "machine"
    ram = "" if machine.ram_bytes is None else f", {show_gib(machine.ram_bytes)}"
    cap = f" held to {cap_words(limit)}" if limit.ram_limit_bytes is not None else ram
    ballast = limit.ballast_bytes
    beside = f" beside {show_gib(ballast)} of ballast" if ballast else ""
    place = ", ".join(part for part in (device.upper(), model_format) if part)
    return f"this {name}{cap}{beside} ({place})"


def times(ratio: float) -> str:
    """Write a ratio with the digits that matter, as in "1.2" and "154"."""
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"


def started(row: Record) -> str:
    """Say how much memory was free when the trial began."""
    free = row.before.available_bytes
    return "" if free is None else f", started with {show_bytes(free)} free"


def begun(row: Record) -> str:
    """Say when a trial began."""
    when = row.key.started_utc
    return f" (begun {when[:10]} {when[11:16]} UTC)" if when else ""


def over(row: Record) -> str:
    """Say that an inference was cut off: it took more than is known."""
    return "" if row.timing.inference_over_s is None else "over "


def returned(row: Record) -> str:
    """Say how many bytes came back for an inference, and from where."""
    share, read = back(row), read_bytes(row.model)
    amount = "part" if share is None or read is None else show_bytes(share * read)
    least = "at least " if row.timing.inference_over_s is not None else ""
    memory = (row.first, row.infer)
    disk = any(m.swapped_in_bytes or m.paged_in_bytes for m in memory)
    packed = any(m.decompressed_bytes for m in memory)
    places = ["the disk"] if disk else []
    places += ["compressed memory"] if packed else []
    return f"{least}{amount} of it comes back from {' and '.join(places) or 'elsewhere'}"


def written(row: Record) -> str:
    """Say what a trial wrote to the disk, after a semicolon; empty where that is nothing."""
    amount = row.whole.disk_written_bytes
    return f"; the trial wrote {show_bytes(amount)} to the disk" if amount else ""


def squeeze(series: Series, row: Record) -> str:
    """Say what makes a size tight, in bytes where they were measured."""
    swapped, share, found = row.load.swapped_out_bytes, back(row), []
    if share is not None and share > STILL_BACK:
        found.append(f"{returned(row)} each time")
    weights = row.model.weights_bytes or 0
    if swapped and counted(row.model, swapped) > SWAPPED_OUT_SHARE * weights:
        found.append(f"{show_bytes(swapped)} of memory was swapped out to make room for it")
    judgement = judge(row, series.expected)
    return " and ".join(found) or (judgement.reason if judgement else "it was squeezed")


def outgrown(size: Size) -> str:
    """Say how a size larger than the memory there was can be practical; empty for any other."""
    model, free = size.typical.model, size.typical.before.available_bytes
    read = read_bytes(model)
    practical = size.verdict is not None and size.verdict.practical
    if not practical or reads_all(model.arch) or read is None or free is None:
        return ""
    if size.weights_bytes <= free:
        return ""
    return (
        f" {show_bytes(size.weights_bytes)} is larger than the {show_bytes(free)} that were free, "
        f"and still practical: an inference reads only {show_bytes(read)} of it."
    )


def speed(size: Size) -> str:
    """Say how the speed compares with that of small models."""
    known = [j.slower for j in size.judgements if j.slower is not None]
    if not known:
        return "speed not judged"
    slower = median(known)
    if slower <= AS_FAST:
        return "as fast per GB as small models"
    return f"{times(slower)} times slower than its size alone explains"


def swapped(row: Record) -> list[str]:
    """Say what was swapped out, where that was measured."""
    told = [row.phase(phase).swapped_out_bytes for phase in Phase]
    known = [amount for amount in told if amount is not None]
    if not known:
        return []
    return [f"{show_bytes(sum(known))} swapped out" if sum(known) else "nothing swapped"]


def failure(row: Record) -> str:
    """Say how a trial failed, and why."""
    words = {
        Status.OOM_ERROR: "TensorFlow ran out of memory",
        Status.KILLED: "the system ended it",
        Status.STOPPED: "memcliff stopped it to keep the machine usable",
        Status.TIMED_OUT: "it took too long",
        Status.CRASHED: "it crashed",
        Status.INVALID: "it ran, but its output was wrong",
        Status.REFUSED: "TensorFlow would not load it",
    }
    status = row.outcome.status
    said = words.get(status, str(status)) if status else "it ended"
    # A child tells a sentence, which goes on here.
    return f"{said}: {row.outcome.reason.removesuffix('.')}" if row.outcome.reason else said


def fails(series: Series, size: Size, name: str, where: str) -> str:
    """Say that a size fails: of what name, on which machine, how, with how much memory."""
    only = len(series.asked.devices) == 1
    no = "No." if only else f"No, not on the {series.device.upper()}."
    memory = "" if size.peak_words is None else f", with {size.peak_words}"
    why = failure(size.typical)
    return f"{no} {name} does not work on {where}: {why}{memory} ({size.score})."


def seconds(duration_s: float | None) -> str:
    """Write seconds, or that they were not measured."""
    return "not measured" if duration_s is None else show_seconds(duration_s)


BESIDE = {
    Verdict.FITS: "it still fits",
    Verdict.TIGHT: "it is tight",
    Verdict.THRASHES: "it thrashes",
    Verdict.UNSTEADY: "its speed varies",
    Verdict.FAILS: "it fails",
}


def beside(series: Series, weights_bytes: int) -> str:
    """Say how a size does beside other programs, where that was tried, after a semicolon."""
    tried = series.of_role(Role.BALLAST)
    rows = [row for row in tried if row.model.weights_bytes == weights_bytes]
    judged = [(row, one) for row in rows if (one := judge(row, series.expected)) is not None]
    if not judged:
        return ""
    row, judgement = judged[-1]
    programs = show_gib(row.limit.ballast_bytes or 0)
    return f"; with {programs} of idle programs open {BESIDE[judgement.verdict]} (measured)"
