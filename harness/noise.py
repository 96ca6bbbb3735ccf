"""What is too little to say anything of a user's own model, which may be smaller than a page."""

from harness.records import Model
from harness.scope import OWN

NOISE_BYTES = 2**20
"""Python reads a page of its libraries now and then; where only the system counts, so do others."""


def counted(model: Model, amount_bytes: float) -> float:
    """Give an amount of memory that moved during an inference or a load; 0 where it is noise.

    The models that are made here are large enough for every byte to count.
    """
    return 0.0 if model.arch == OWN and amount_bytes < NOISE_BYTES else amount_bytes
