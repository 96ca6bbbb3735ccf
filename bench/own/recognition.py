"""Which format a user's model is kept in, told from its name and its first bytes."""

from pathlib import Path

from bench.failures import TaskError, refused
from bench.own.given_files import DAMAGED, read_head, unreadable

GRAPHS = ("saved_model.pb", "saved_model.pbtxt")
"""Either makes a folder a SavedModel; the second is the first as text."""
SAVE_ANEW = "save it with tf.saved_model.save where it was made, and give that folder"
ONNX = "convert it to a SavedModel with onnx2tf"
TORCH = f"export it to ONNX, then {ONNX}"
CURES = {
    ".pb": f"give the SavedModel folder that it lies in, or {SAVE_ANEW}",
    ".pbtxt": f"give the SavedModel folder that it lies in, or {SAVE_ANEW}",
    ".tflite": f"a TensorFlow Lite model cannot be converted back: {SAVE_ANEW}",
    ".onnx": ONNX,
    ".pt": TORCH,
    ".pth": TORCH,
    ".bin": TORCH,
    ".safetensors": TORCH,
    ".gguf": "it is llama.cpp's own: TensorFlow has no loader for it, so measure it with llama.cpp",
    ".ckpt": f"a checkpoint has no graph: {SAVE_ANEW}",
    ".index": f"a checkpoint has no graph: {SAVE_ANEW}",
    ".zip": "unpack it and give the SavedModel folder or the .keras file in it",
    ".gz": "unpack it and give the SavedModel folder or the .keras file in it",
    ".tar": "unpack it and give the SavedModel folder or the .keras file in it",
}
KNOWN = "memcliff loads a SavedModel folder, a .keras file or a legacy .h5 file"
FORMATS = {".keras": "keras", ".h5": "h5", ".hdf5": "h5"}
"""The endings that Keras knows, in small letters only."""
MAGICS = {"keras": b"PK\x03\x04", "h5": b"\x89HDF\r\n\x1a\n"}
CONTENTS = {
    "keras": "a zip archive, which a .keras file is",
    "h5": "an HDF5 file, which an .h5 file is",
}
BARE_WEIGHTS = ".weights.h5"


def format_of(path: Path) -> str:
    """Name the format of a model; raise TaskError with the cure where there is none of ours."""
    try:
        path.stat()
        return _of_folder(path) if path.is_dir() else _of_file(path)
    except OSError as error:
        raise unreadable(error, path) from error


def _of_folder(folder: Path) -> str:
    names = {path.name for path in folder.iterdir()}
    if names & set(GRAPHS):
        return "savedmodel"
    if {"config.json", "metadata.json"} <= names:
        raise _none(folder, "it is an unpacked .keras file: pack what is in it into a zip again")
    for graph in sorted(folder.glob("*/saved_model.pb")):
        inner = f"{folder.name}/{graph.parent.name}"
        raise _none(folder, f"the SavedModel lies one folder deeper: give {inner}")
    if any(name.endswith(".index") for name in names):
        raise _none(folder, CURES[".index"])
    raise _none(folder, f"there is no saved_model.pb in it: give the folder that has one. {KNOWN}")


def _none(folder: Path, why: str) -> TaskError:
    return refused(f"The folder {folder.name} is no SavedModel: {why}.")


def _of_file(path: Path) -> str:
    head = read_head(path)
    if path.name.lower().endswith(BARE_WEIGHTS):
        raise refused(
            f"{path.name} holds weights without the model they belong to: save the whole model, "
            "with model.save('model.keras')."
        )
    told = FORMATS.get(path.suffix.lower())
    found = next((name for name, magic in MAGICS.items() if head.startswith(magic)), None)
    if told is None:
        cure = CURES.get(path.suffix.lower(), "convert it to one of these")
        raise refused(f"{KNOWN}, and {path.name} is none of these: {cure}.")
    if found is None:
        raise refused(f"{path.name} is not {CONTENTS[told]}: {DAMAGED}.")
    if found != told:
        raise refused(f"{path.name} is {CONTENTS[found]}: give it that ending.")
    if path.suffix not in FORMATS:
        raise refused(f"Keras knows endings in small letters only: rename {path.name}.")
    return told
