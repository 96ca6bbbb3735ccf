"""Tables of every schema there was stay readable."""

from pathlib import Path

from harness import table
from harness.records import Drift, Limit, Role, Status

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


def test_a_table_of_schema_3_tells_of_ballast_and_of_the_files_in_memory() -> None:
    old, *_ = table.read(DATA / "table-schema-2.csv")
    reference, beside = table.read(DATA / "table-schema-3.csv")
    assert {row.schema for row in (reference, beside)} == {3}
    assert (old.limit.ballast_bytes, beside.limit.ballast_bytes) == (None, 4 * 2**30)
    assert (old.model.cache_asked, beside.model.cache_asked) == (None, "cold")
    assert (old.whole.peak_rss_file_bytes, beside.whole.peak_rss_file_bytes) == (None, 351_000_000)
    assert beside.key.role is Role.BALLAST
    assert beside.limit == Limit(23 * 2**29, "cgroup-v1", 9 * 2**29, 4 * 2**30)
    assert reference.limit == Limit()
    assert beside.whole.disk_read_bytes is None


def test_a_table_of_schema_4_tells_of_drift_and_of_own_models() -> None:
    old, *_ = table.read(DATA / "table-schema-3.csv")
    short, long = table.read(DATA / "table-schema-4.csv")
    assert {row.schema for row in (short, long)} == {4}
    assert (old.drift, short.drift) == (Drift(), Drift())
    assert long.drift == Drift(-1.5e-07, -4.5e-07, 1.5e-07, 1_048_576, 1_040_000, 1_057_152)
    assert (old.model.model_hash, long.model.model_hash) == (None, "89abcdef0123")
    assert long.timing.inference_count == 200
