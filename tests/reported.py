"""Tables to report on: rows of the made-up Mac as its run would number them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.records import Record, Role, Status
from tests.mac import MACHINE, REFERENCES, TARGET, ended, measured, thrashing
from tests.records import changed
from tests.test_answer import FITTING, SWAPPING

RUN_ID = "20250101T140000Z-0001"
FAILED_ON_GPU = changed(
    ended(TARGET, Status.OOM_ERROR, '"Insufficient Memory" (in phase load)'),
    load={"peak_rss_bytes": 11_400_000_000},
)
LOST = ended(TARGET, Status.MACHINE_LOST, "the machine restarted while this trial ran")


def table_of(*rows: Record, references: Sequence[Record] = REFERENCES) -> tuple[Record, ...]:
    """Put rows after the references and number them."""
    return tuple(_numbered(number, row) for number, row in enumerate((*references, *rows), 1))


def _numbered(number: int, row: Record) -> Record:
    key = {"trial": number, "run_id": RUN_ID, "started_utc": f"2025-01-01T14:{number:02d}:05Z"}
    return changed(
        replace(row, machine=MACHINE),
        key=key,
        model={"cache_asked": "cold", "page_cache": "cold"},
    )


def moved(rows: Sequence[Record], device: str) -> tuple[Record, ...]:
    """Let rows have run on another device."""
    return tuple(changed(row, model={"device_asked": device, "device": device}) for row in rows)


BOTH_DEVICES = (
    *[SWAPPING] * 3,
    measured(186),
    thrashing(194),
    *moved((*REFERENCES, measured(149), FAILED_ON_GPU), "gpu"),
)
CASES: Mapping[str, tuple[Record, ...]] = {
    "fits": table_of(*FITTING),
    "tight": table_of(*[SWAPPING] * 3, measured(186), thrashing(194)),
    "thrashes": table_of(
        *[measured(156)] * 3, *[thrashing(164)] * 3, thrashing(TARGET, Role.TARGET)
    ),
    "fails-on-the-gpu": table_of(*BOTH_DEVICES),
    "machine-lost": table_of(measured(156), LOST),
}
"""The five answers of the design, each as the table of a run."""
