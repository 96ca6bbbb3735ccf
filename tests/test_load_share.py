"""Host's and GPU's share of a load's peak, on a made-up Mac: nobody measured these figures."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.load_share import LoadShare, load_share, load_share_line
from harness.records import Record, Role
from harness.reports.findings import report_of
from harness.scope import LAYER_BYTES
from harness.series import Series, series_in
from tests.mac import TARGET, measured
from tests.records import changed
from tests.reported import moved, table_of
from tests.test_simulated_mac import call

IMPORTED = 300_000_000
WEIGHTS = TARGET * LAYER_BYTES


def loaded(
    layers: int = TARGET,
    share: float = 2.05,
    device: float | None = 1.0,
    role: Role = Role.TARGET,
    os: str = "macos",
) -> Record:
    """Make a GPU row: the peak and what Metal counts, as shares of the weights."""
    weights = layers * LAYER_BYTES
    counted = None if device is None else round(device * weights)
    (row,) = moved([measured(layers, role)], "gpu")
    peak = IMPORTED + round(share * weights)
    return changed(
        row,
        machine={"os": os},
        load={"peak_footprint_kernel_bytes": peak, "device_allocated_bytes": counted},
    )


def on_cpu(layers: int = TARGET, share: float = 1.05) -> Record:
    (row,) = moved([loaded(layers, share, device=0.0)], "cpu")
    return row


def every(*rows: Record) -> list[Series]:
    """Read the series back; the rows stay on their own system."""
    numbered = table_of(*rows, references=())
    pairs = zip(numbered, rows, strict=True)
    return series_in([replace(new, machine=old.machine) for new, old in pairs])


def line(*rows: Record) -> str:
    series = every(*rows)
    return load_share_line(series[-1], series)


def test_the_peak_of_a_load_is_told_as_the_gpu_s_part_and_the_rest() -> None:
    assert line(loaded()) == (
        "Load peak on the GPU: loading 12 GB peaked at 24.9 GB, 12 GB on the GPU and 12.9 GB on "
        "the host (1.00 and 1.07 times the weights, the framework's own memory included)."
    )


def test_the_same_size_on_the_cpu_stands_beside_it() -> None:
    assert line(on_cpu(), loaded()).endswith(" included); on the CPU alone 12.9 GB.")
    assert line(on_cpu(15), loaded()).endswith(" included).")
    lost = changed(on_cpu(), timing={"load_s": None})
    assert line(lost, loaded()).endswith(" included).")


def test_formats_are_told_apart_and_not_set_against_each_other() -> None:
    keras = changed(on_cpu(), model={"format": "keras"})
    said = line(keras, loaded())
    assert said.startswith("Load peak on the GPU, savedmodel: loading 12 GB peaked at")
    assert said.endswith(" included).")


def test_the_trial_that_peaked_highest_speaks_for_its_size() -> None:
    rows = (loaded(share=2.0), loaded(share=2.1, device=1.01), loaded(share=2.05))
    (series,) = every(*rows)
    assert load_share(series, [series]) == LoadShare(
        WEIGHTS, IMPORTED + round(2.1 * WEIGHTS), round(1.01 * WEIGHTS)
    )


@pytest.mark.parametrize(
    ("rows", "layers"),
    [
        ((loaded(15, role=Role.STEP), loaded(), loaded(186, role=Role.STEP)), TARGET),
        ((loaded(15, role=Role.STEP), loaded(60, role=Role.STEP), loaded(device=None)), 60),
        ((loaded(15, role=Role.GIVEN), loaded(30, role=Role.GIVEN)), 30),
    ],
    ids=["the target", "the target does not tell", "no target"],
)
def test_the_target_is_told_else_the_largest_size(rows: tuple[Record, ...], layers: int) -> None:
    (series,) = every(*rows)
    share = load_share(series, [series])
    assert share is not None
    assert share.weights_bytes == layers * LAYER_BYTES


def test_a_gpu_that_holds_more_than_the_footprint_is_not_in_it() -> None:
    assert line(on_cpu(), loaded(share=0.5)) == (
        "Load peak on the GPU: loading 12 GB peaked at 6.3 GB, but Metal counts 12 GB on the GPU "
        "alone, so the host's share is not known; on the CPU alone 12.9 GB."
    )


def test_a_gpu_that_holds_less_than_its_weights_is_not_all_counted() -> None:
    assert line(loaded(device=0.0)) == (
        "Load peak on the GPU: loading 12 GB peaked at 24.9 GB, of which Metal counts 0 on the "
        "GPU, so the host's share is not known."
    )


NO_PEAK = changed(loaded(), load={"peak_footprint_kernel_bytes": None})


@pytest.mark.parametrize(
    "row",
    [
        loaded(device=None),
        NO_PEAK,
        loaded(os="linux"),
        on_cpu(),
        changed(loaded(), model={"device": "cpu"}),
    ],
    ids=["no Metal", "no footprint", "no Mac", "the CPU", "the CPU worked for the GPU"],
)
def test_nothing_is_said_where_a_figure_is_missing_or_no_gpu_loaded(row: Record) -> None:
    assert line(row) == ""


def test_a_report_says_it_among_the_lines_of_how_it_was_measured() -> None:
    rows = [changed(row, machine={"os": "macos"}) for row in table_of(on_cpu(), loaded())]
    (said,) = [one for one in report_of(rows).lines if one.label == "Load peak on the GPU"]
    assert said.text.startswith("loading 12 GB peaked at 24.9 GB, 12 GB on the GPU and 12.9 GB")


@pytest.mark.skipif(sys.platform != "linux", reason="the made-up Mac stands on Linux's probes")
def test_a_run_says_it_and_its_document_holds_it(tmp_path: Path) -> None:
    """The stand-in's GPU is made up, and its footprint is real and small."""
    done = call(tmp_path, "--sizes", "256MiB")
    assert "\nLoad peak on the GPU: loading 268 MB peaked at " in done.stdout
    assert "but Metal counts 268 MB on the GPU alone" in done.stdout
    document = json.loads(call(tmp_path, "--sizes", "256MiB", "--fresh", "--json").stdout)
    cpu, gpu = (one["load_share"] for one in document["series"])
    assert cpu is None
    assert (gpu["weights_bytes"], gpu["device_bytes"]) == (2**28, 2**28)
    assert gpu["peak_bytes"] > 0
    assert gpu["cpu_peak_bytes"] > 0


@pytest.mark.parametrize(
    ("peak", "device", "host"),
    [(105, 100, 5), (100, 100, 0), (99, 100, None), (250, 89, None), (250, 90, 160)],
)
def test_the_host_s_share_is_the_rest_where_the_figures_agree(
    peak: int, device: int, host: int | None
) -> None:
    assert LoadShare(100, peak, device).host_bytes == host
