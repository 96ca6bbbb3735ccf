"""A loaded model: what every format's loader gives."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tensorflow as tf


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that can be called."""

    call: Callable[["tf.Tensor"], "tf.Tensor"]
    """Takes a tensor, (batch, width), and gives one."""
    weights_bytes: int
    largest_tensor_bytes: int
