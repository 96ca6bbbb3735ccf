"""The columns, read off the dataclasses."""

from dataclasses import fields

import pytest

from harness.columns import columns, parts
from harness.records import Phase, Record, Role, Status
from harness.trial_memory import PhaseMemory

CELLS = {str, int, float, bool, Role, Status}
# What section 4 of the design asks of every row.
NEEDED = """
    machine model_identifier chip cores gpu ram_bytes ram_limit_bytes limit_kind system_share_bytes
    metal_working_set_bytes metal_max_buffer_bytes gpu_wired_limit_bytes os os_version
    page_size_bytes power low_power thermal boot_id python framework framework_version
    metal_plugin_version keras_version run_id protocol trial role repeat previous started_utc arch
    format dtype weights_bytes file_bytes largest_tensor_bytes batch seed device_asked device
    page_cache status reason signal stop_rule import_s load_s first_inference_s inference_s
    inference_min_s inference_max_s inference_p95_s inference_count inference_over_s again_s
    before_available_bytes before_wired_bytes before_swap_used_bytes before_compressor_bytes
    peak_wired_bytes peak_swap_used_bytes peak_compressor_bytes least_available_bytes
    disk_read_bytes disk_written_bytes macos_pressure_worst psi_memory_full_s psi_io_full_s
    inference_user_cpu_s inference_system_cpu_s samples sample_gap_max_s others_gap_max_s
    sampler_cpu_s failed_reads output_error recovery_s schema
"""


def test_the_schema_comes_first_so_that_any_reader_meets_it() -> None:
    assert columns()[0].name == "schema"
    assert columns()[0].group is None


def test_no_two_columns_have_the_same_name() -> None:
    names = [column.name for column in columns()]
    assert len(names) == len(set(names))


def test_every_column_the_design_asks_for_is_there() -> None:
    assert set(NEEDED.split()) - {column.name for column in columns()} == set()


@pytest.mark.parametrize("phase", Phase)
def test_each_phase_has_each_column_of_its_memory_and_says_so(phase: Phase) -> None:
    found = {column.name: column.doc for column in columns()}
    for field in fields(PhaseMemory):
        assert found[f"{phase}_{field.name}"].startswith(f"phase {phase}: ")


def test_every_column_has_a_line_of_doc_and_a_type_a_cell_can_hold() -> None:
    assert all(column.doc.strip() and column.type in CELLS for column in columns())


def test_a_column_of_bytes_is_whole_and_a_column_of_seconds_is_not() -> None:
    for column in columns():
        if column.name.endswith("_bytes"):
            assert column.type is int, column.name
        if column.name.endswith("_s"):
            assert column.type is float, column.name


def test_the_columns_are_the_fields_of_all_parts_and_nothing_else() -> None:
    inside = sum(len(fields(part)) for part in parts().values())
    assert len(columns()) == inside + 1
    assert set(parts()) | {"schema"} == {field.name for field in fields(Record)}


def test_what_was_there_before_is_named_and_described_as_before() -> None:
    column = next(one for one in columns() if one.name == "before_available_bytes")
    assert (column.group, column.attribute) == ("before", "available_bytes")
    assert column.doc == "before the gate opened: memory available"
