"""A run: its table, its journal, and how it goes on after an interruption."""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from harness import table
from harness.errors import MachineError, UsageError
from harness.journal import entries, never_came_back, note
from harness.lines import Message
from harness.records import SCHEMA, Limit, Machine, Outcome, Record, Status, Versions
from harness.rows import Explain, Ground, Start, lost_row, no_report, row_without_trial
from harness.scope import Asked, Bounds, Ceiling
from harness.trace import read_trace

RUNS = ".runs"


def lock_file(results: Path) -> Path:
    """Name the file that a run holds as long as it uses a results folder."""
    return results / RUNS / "lock"


@dataclass(frozen=True, slots=True)
class Run:
    """One run, that may have been begun by an earlier call."""

    results: Path
    table: Path
    ground: Ground
    bounds: Bounds

    @property
    def folder(self) -> Path:
        """The folder of its journal, traces and the children's last words; not for sharing."""
        return self.results / RUNS / self.ground.run_id

    @property
    def journal(self) -> Path:
        """The journal's file."""
        return self.folder / "journal.jsonl"

    def trace(self, number: int) -> Path:
        """Name the file of a trial's samples."""
        return self.folder / f"trial-{number:03d}.trace"

    def rows(self) -> tuple[Record, ...]:
        """Read its rows so far."""
        return table.read(self.table) if self.table.exists() else ()

    def begin(self, start: Start) -> None:
        """Write down that a trial begins."""
        trial = start.trial
        note(self.journal, {
            "begin": start.number, "layers": trial.layers, "role": trial.role,
            "repeat": trial.repeat, "device": trial.device, "format": trial.format,
            "previous": start.previous, "started_utc": start.started_utc,
            "ballast_bytes": trial.ballast_bytes, "cache": trial.cache,
            "boot_id": self.ground.machine.boot_id,
        })  # fmt: skip

    def end(self, record: Record) -> None:
        """Write the row, then that the trial has ended."""
        table.append(self.table, record)
        note(self.journal, {"end": record.key.trial})

    def skip(self, start: Start, reason: str, status: Status = Status.SKIPPED) -> Record:
        """Write the row of a trial that is not made, or that is to be made again (interrupted)."""
        record = row_without_trial(self.ground, start, Outcome(status, reason))
        table.append(self.table, record)
        return record

    def finish(self) -> None:
        """Write down that nothing is left to do."""
        note(self.journal, {"finished": True})


def new_run(results: Path, ground: Ground, bounds: Bounds, now: datetime) -> Run:
    """Begin a run with a table of its own; raises MachineError when it cannot be written."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    ground = replace(ground, run_id=f"{stamp}-{secrets.token_hex(2)}")
    path = _free(results, f"{ground.machine.machine}-{stamp}")
    run = Run(results, path, ground, bounds)
    try:
        run.folder.mkdir(parents=True)
    except OSError as error:
        raise MachineError(
            f"The results folder {results} cannot be written ({error.strerror}): "
            "choose another one with --results."
        ) from error
    note(run.journal, {
        "run": ground.run_id, "schema": SCHEMA, "table": run.table.name,
        "protocol": ground.protocol, "seed": ground.seed, "machine": asdict(ground.machine),
        "versions": asdict(ground.versions), "asked": asdict(ground.asked),
        "bounds": asdict(bounds),
    })  # fmt: skip
    return run


def _free(results: Path, stem: str) -> Path:
    """Choose a file that does not exist: a finished run's table is never touched."""
    names = (f"{stem}{suffix}.csv" for suffix in ("", *(f"-{number}" for number in range(2, 99))))
    return next(path for name in names if not (path := results / name).exists())


def unfinished(results: Path) -> Iterator[Run]:
    """Give the runs that were begun and not finished, the latest first.

    Those of another schema are left alone: a table has one kind of rows.
    """
    for journal in sorted((results / RUNS).glob("*/journal.jsonl"), reverse=True):
        lines = entries(journal)
        finished = any("finished" in entry for entry in lines)
        if lines and lines[0].get("schema") == SCHEMA and not finished:
            # Another version may have written other fields: its run is not ours to go on with.
            with suppress(TypeError, KeyError, ValueError):
                yield _run_of(results, lines[0])


def _run_of(results: Path, head: Message) -> Run:
    asked, bounds = dict(head["asked"]), dict(head["bounds"])
    for name in ("sizes", "devices", "formats"):
        asked[name] = tuple(asked[name])
    asked["limit"] = Limit(**asked["limit"])
    bounds["lost"] = tuple((device, size) for device, size in bounds["lost"])
    bounds["ceilings"] = tuple(Ceiling(*one) for one in bounds["ceilings"])
    ground = Ground(
        run_id=head["run"],
        protocol=head["protocol"],
        machine=Machine(**head["machine"]),
        versions=Versions(**head["versions"]),
        asked=Asked(**asked),
        seed=head["seed"],
    )
    return Run(results, results / head["table"], ground, Bounds(**bounds))


def settle(run: Run, boot_id: str | None, explain: Explain = no_report) -> Record | None:
    """Give a trial that never came back its row; the row is returned, None when all ended.

    explain looks for what the system reported of its end, such as a panic.
    The row may be there already, when the end came between the row and its line in the journal.
    """
    if run.table.exists():
        table.mend(run.table)
    begun = never_came_back(entries(run.journal))
    if begun is None:
        return None
    if any(row.key.trial == begun["begin"] for row in run.rows()):
        note(run.journal, {"end": begun["begin"]})
        return None
    # A sampler that wrote its summary outlived the trial, so the restart came later.
    outlived = read_trace(run.trace(begun["begin"])).summary is not None
    record = lost_row(run.ground, begun, begun["boot_id"] if outlived else boot_id, explain)
    run.end(record)
    return record


def resumable(run: Run, ground: Ground) -> bool:
    """Tell whether a run was asked the same on the same machine with the same versions."""
    then, now = run.ground, ground
    same_asked = replace(then.asked, retry_lost=now.asked.retry_lost) == now.asked
    same_machine = replace(then.machine, boot_id=now.machine.boot_id) == now.machine
    same_ground = (then.protocol, then.versions, then.seed) == (
        now.protocol,
        now.versions,
        now.seed,
    )
    return same_asked and same_machine and same_ground


def resumed(run: Run, ground: Ground) -> Run:
    """Take a run up again, in this boot and with what is asked now."""
    return replace(run, ground=replace(ground, run_id=run.ground.run_id))


def lost_sizes(results: Path, machine: str | None) -> tuple[tuple[str, int], ...]:
    """Gather with what this machine went down before, from the readable tables of the folder."""
    lost = set()
    for path in sorted(results.glob("*.csv")):
        try:
            rows = table.read(path)
        except UsageError:
            continue  # A foreign table is its reader's concern, not this run's.
        for row in rows:
            # Tables are passed around; only what was measured from here happened here.
            here = (results / RUNS / (row.key.run_id or "-")).exists()
            lost_it = row.outcome.status is Status.MACHINE_LOST
            if here and lost_it and row.machine.machine == machine:
                lost.add((row.model.device_asked or "", row.model.weights_bytes or 0))
    return tuple(sorted(lost))
