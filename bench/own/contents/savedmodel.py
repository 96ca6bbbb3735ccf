"""SavedModel: a graph with signatures, and a checkpoint."""

from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING

from bench.failures import refused
from bench.own.checkpoint import Entry, holds_twice, read_index
from bench.own.content import Content
from bench.own.given_files import DAMAGED, readable
from bench.own.recognition import GRAPHS
from bench.own.refusals import TOO_LARGE
from bench.own.signatures import chosen_signature
from bench.own.specs import Spec, not_plain

if TYPE_CHECKING:
    from tensorflow.core.protobuf.meta_graph_pb2 import MetaGraphDef, TensorInfo

PROTOBUF_BYTES = 2**31 - 1
"""protobuf reads no longer message."""
OWN_MARK = "__saved_model"
"""What the names of TensorFlow's own signatures begin with: they initialise and train."""
REFERENCES = ("Variable", "VariableV2")
"""The operations that hold a variable of TensorFlow 1."""
VARIABLES = Path("variables", "variables")


def read(folder: Path, signature: str | None) -> Content:
    """Read a folder's content; raise TaskError for one that is damaged, or cannot be called."""
    graph = _graph(_graph_file(folder))
    names = [name for name in graph.signature_def if not name.startswith(OWN_MARK)]
    chosen = chosen_signature(names, signature)
    entries = _variables(folder)
    inputs = graph.signature_def[chosen].inputs
    return Content(
        tensors=[entry.tensor for entry in entries],
        inputs={name: _spec(name, inputs[name]) for name in sorted(inputs)},
        signature=chosen,
        signatures=sorted(names),
        twice=holds_twice(entries),
    )


def _graph_file(folder: Path) -> Path:
    path = readable(next(path for path in map(folder.joinpath, GRAPHS) if lexists(path)))
    if path.stat().st_size > PROTOBUF_BYTES:
        raise refused(TOO_LARGE)
    return path


def _graph(path: Path) -> "MetaGraphDef":
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError
    from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

    try:
        if path.suffix == ".pb":
            graphs = SavedModel.FromString(path.read_bytes()).meta_graphs
        else:
            graphs = text_format.Parse(path.read_text(), SavedModel()).meta_graphs
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise refused(f"{path.name} is cut off or damaged ({error}): {DAMAGED}.") from error
    if len(graphs) != 1:
        raise refused(
            f"The SavedModel holds {len(graphs)} graphs, and TensorFlow 2 loads one: save it again "
            "with tf.saved_model.save."
        )
    if any(node.op in REFERENCES for node in graphs[0].graph_def.node):
        raise refused(
            "The SavedModel is one of TensorFlow 1 with reference variables, which TensorFlow 2 "
            "hides: save it again after tf.compat.v1.enable_resource_variables()."
        )
    return graphs[0]


def _variables(folder: Path) -> list[Entry]:
    """Read the checkpoint; raise TaskError when it has no weights in it."""
    index = folder / f"{VARIABLES}.index"
    entries = read_index(folder / VARIABLES) if lexists(index) else []
    if not any(entry.tensor.size_bytes for entry in entries):
        raise refused(
            "The SavedModel has no variables: either its folder variables was not copied with it, "
            "or its weights are constants in the graph, as in a frozen one; save it with "
            "tf.saved_model.save and weights that are variables (tf.Variable)."
        )
    return entries


def _spec(name: str, info: "TensorInfo") -> Spec:
    import tensorflow as tf

    if info.WhichOneof("encoding") != "name":
        raise not_plain(name)
    shape = tf.TensorShape(info.tensor_shape)
    dtype = tf.as_dtype(info.dtype).name
    return Spec(None if shape.rank is None else tuple(shape.as_list()), dtype)
