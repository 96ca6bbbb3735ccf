"""Tables of every schema there was stay readable."""

from pathlib import Path

from harness import table
from harness.records import Role, Status

DATA = Path(__file__).parent / "data"


def test_a_table_of_schema_1_stays_readable() -> None:
    reference, target, lost = table.read(DATA / "table-schema-1.csv")
    assert {row.schema for row in (reference, target, lost)} == {1}
    assert reference.key.role is Role.REFERENCE
    assert reference.outcome.status is Status.OK
    assert reference.model.weights_bytes == 268_435_456
    assert reference.timing.inference_s == 0.0075
    assert reference.condition.low_power is False
    assert reference.infer.decompressed_bytes == 0
    assert reference.infer.swapped_in_bytes is None
    assert target.outcome.reason == 'killed by the kernel, out of memory: "no, not 12 GB"'
    assert target.outcome.signal == "SIGKILL"
    assert lost.outcome.status is Status.MACHINE_LOST
    assert lost.timing.load_s is None


def test_a_table_of_schema_2_tells_what_schema_1_could_not() -> None:
    old, new = (table.read(DATA / f"table-schema-{schema}.csv")[0] for schema in (1, 2))
    assert (old.machine.metal_limit_source, new.machine.metal_limit_source) == (None, "metal")
    assert (old.load.device_allocated_bytes, new.load.device_allocated_bytes) == (None, 10**9)
    assert new.quality.system_age_max_s == 0.75
    assert new.schema == 2
