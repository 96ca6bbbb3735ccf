"""The signatures of a SavedModel: which of them is called."""

from collections.abc import Iterable

from bench.failures import refused

DEFAULT = "serving_default"


def chosen_signature(names: Iterable[str], wanted: str | None) -> str:
    """Choose the one that is wanted, else the default one, else the only one there is.

    Raises TaskError when that leaves none.
    """
    known = sorted(names)
    if not known:
        raise refused(
            "The SavedModel has no signature to call it by: save it again with "
            "tf.saved_model.save(model, folder, signatures=...)."
        )
    if wanted is None and (DEFAULT in known or len(known) == 1):
        return DEFAULT if DEFAULT in known else known[0]
    if wanted in known:
        return wanted
    lacks = f"no signature {wanted!r}" if wanted else f"several signatures, none {DEFAULT!r}"
    raise refused(f"The SavedModel has {lacks}: choose {' or '.join(known)} with --signature.")


def refuse_signature(wanted: str | None) -> None:
    """Raise TaskError when a signature is wanted of a Keras file, which has none."""
    if wanted is not None:
        raise refused("A Keras file has no signatures: leave --signature out.")
