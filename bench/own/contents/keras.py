""".keras: a zip archive of a configuration and the weights, which are HDF5."""

import zipfile
from pathlib import Path

from bench.failures import refused
from bench.own.content import Content
from bench.own.contents.h5 import inputs_in, opened, tensors_of
from bench.own.given_files import DAMAGED, UNPACKING
from bench.own.signatures import refuse_signature

CONFIG, WEIGHTS = "config.json", "model.weights.h5"
ENCRYPTED_BIT = 1
"""Of a member's flags."""
OPTIMIZER = "optimizer"
"""Its variables lie beside the model's, and a load for inference leaves them out."""
LARGEST_PACKED_BYTES = 10**9
"""Keras stores weights unpacked; in packed ones every look at another place unpacks anew."""


def read(path: Path, signature: str | None) -> Content:
    """Read a file's content; raise TaskError for one that is no whole model."""
    refuse_signature(signature)
    try:
        with zipfile.ZipFile(path) as archive:
            return _content(archive, path.name)
    except NotImplementedError as error:
        raise refused(
            f"{path.name} is packed in a way that Python cannot unpack ({error}): pack what is in "
            "it anew with `zip -0`."
        ) from error
    except UNPACKING as error:
        raise refused(f"{path.name} is cut off or damaged ({error}): {DAMAGED}.") from error


def _content(archive: zipfile.ZipFile, name: str) -> Content:
    for part in (CONFIG, WEIGHTS):
        if part not in archive.namelist():
            raise refused(f"{name} is a zip archive without {part}, so no Keras model: {DAMAGED}.")
        if archive.getinfo(part).flag_bits & ENCRYPTED_BIT:
            raise refused(f"{name} is encrypted: pack what is in it anew without a password.")
    inputs = inputs_in(archive.read(CONFIG), name)
    member = archive.getinfo(WEIGHTS)
    if member.compress_type != zipfile.ZIP_STORED and member.file_size > LARGEST_PACKED_BYTES:
        raise refused(f"The weights in {name} are compressed: pack them anew with `zip -0`.")
    with archive.open(member) as file, opened(file, name) as weights:
        groups = [group for key, group in weights.items() if key != OPTIMIZER]
        return Content(tensors_of(groups), inputs)
