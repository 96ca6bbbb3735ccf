"""Rows of made-up trials that differ in their loaders."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.records import Record, Role
from harness.scope import LAYER_BYTES
from tests.records import a_row, changed

IMPORTS_BYTES = 480_000_000
SHARES: Mapping[str, tuple[float, float]] = MappingProxyType({
    "savedmodel": (1.04, 1.05), "keras": (3.1, 1.1), "h5": (1.2, 1.1), "weights_h5": (1.16, 1.1),
})  # fmt: skip
"""The peak while loading and what stays, / weights."""


def loaded(name: str, layers: int, *, load_s: float = 4.0, repeat: int = 1) -> Record:
    """Make the row of a trial whose loader took what SHARES says of its format."""
    weights = layers * LAYER_BYTES
    peak, held = (IMPORTS_BYTES + round(share * weights) for share in SHARES[name])
    return changed(
        a_row(layers, 0.1, role=Role.GIVEN),
        key={"repeat": repeat},
        model={"format": name, "file_bytes": weights, "largest_tensor_bytes": LAYER_BYTES,
               "page_cache": "cold", "cache_asked": "cold", "batch": 1},
        timing={"load_s": load_s},
        before={"available_bytes": 24 * 10**9},
        import_={"peak_rss_kernel_bytes": IMPORTS_BYTES},
        load={"peak_rss_kernel_bytes": peak, "swapped_out_bytes": 0},
        hold={"peak_rss_kernel_bytes": held},
    )  # fmt: skip


FOUR = tuple(loaded(name, 30) for name in SHARES)
"""2 GB in each format."""
