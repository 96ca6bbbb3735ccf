"""Small models as their owners would bring them: `python -m tests.own_models FOLDER`.

A child makes them, since pytest has no framework in it. What they are called:

    NAME-saved       written by tf.saved_model.save
    NAME-exported    written by Keras `export`, which writes every weight twice
    NAME.keras, NAME.h5
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import keras
    import tensorflow as tf

LIMIT_S = 300
IN_ALL_FORMATS = ("cnn", "pyramid", "two")
"""One plain CNN; one of several outputs that scales its image itself; one of two inputs."""
NEED_CODE = ("custom", "lambda")
"""Models with a layer of their owner's, written as .keras and .h5."""


def make(folder: Path) -> None:
    """Let a child with the framework write all models into a folder."""
    command = [sys.executable, "-m", "tests.own_models", str(folder)]
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"}
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environment
    )
    assert run.returncode == 0, run.stderr


def cnn() -> "keras.Model":
    import keras

    return keras.applications.MobileNetV2(
        input_shape=(32, 32, 3), alpha=0.35, weights=None, classes=10
    )


def pyramid() -> "keras.Model":
    """Take the begin of EfficientNet: it has Rescaling and Normalization, and we two outputs."""
    import keras

    whole = keras.applications.EfficientNetB0(input_shape=(32, 32, 3), weights=None, classes=10)
    outputs = [whole.get_layer(name).output for name in ("block2b_add", "block3b_add")]
    return keras.Model(whole.input, outputs)


def two() -> "keras.Model":
    """Take tokens, as many as there are, and twelve features."""
    import keras

    tokens = keras.Input((None,), dtype="int32", name="tokens")
    features = keras.Input((12,), name="features")
    read = keras.layers.GlobalAveragePooling1D()(keras.layers.Embedding(16, 8)(tokens))
    both = keras.layers.Concatenate()([read, features])
    return keras.Model([tokens, features], keras.layers.Dense(4)(both))


def words() -> "keras.Model":
    import keras

    word = keras.Input((3,), dtype="string", name="word")
    known = keras.layers.StringLookup(vocabulary=["a", "of", "the", "tree"])(word)
    return keras.Model(word, keras.layers.Dense(4)(keras.layers.Embedding(5, 8)(known)))


def half(dtype: str) -> "keras.Model":
    import keras

    values = keras.Input((64,), dtype=dtype, name="values")
    return keras.Model(values, keras.layers.Dense(64, dtype=dtype)(values))


def mixed() -> "keras.Model":
    """Make a model of which neither type is nearly all."""
    import keras

    values = keras.Input((64,), name="values")
    first = keras.layers.Dense(64)(values)
    return keras.Model(values, keras.layers.Dense(64, dtype="float16")(first))


def trained() -> "keras.Model":
    """Make a model that keeps its optimizer's variables in its file."""
    import keras
    import numpy as np

    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile("adam", "mse")
    model.fit(np.zeros((4, 3)), np.zeros((4, 2)), verbose=0)
    return model


def custom() -> "keras.Model":
    import keras

    class Doubling(keras.layers.Layer):  # type: ignore[misc] # Keras has no types
        def call(self, values: "tf.Tensor") -> "tf.Tensor":
            return values * 2

    return keras.Sequential([keras.Input((3,)), Doubling(), keras.layers.Dense(2)])


def with_lambda() -> "keras.Model":
    import keras

    layer = keras.layers.Lambda(lambda values: values * 2)
    return keras.Sequential([keras.Input((3,)), layer, keras.layers.Dense(2)])


def signed() -> "tuple[tf.Module, dict[str, tf.types.experimental.ConcreteFunction]]":
    """Make a module with signatures of other kinds of inputs, none of them the default one."""
    import tensorflow as tf

    module = tf.Module()
    module.table = tf.Variable(tf.random.stateless_uniform((16, 4), (1, 2)))

    def free(anything: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"mean": tf.reduce_mean(anything) * module.table[0]}

    def said(
        text: tf.Tensor, loud: tf.Tensor, level: tf.Tensor, weights: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        scores = tf.gather(module.table, tf.cast(level, tf.int32) % 16)
        scores += (
            tf.cast(weights, tf.float32) + tf.cast(tf.strings.length(text), tf.float32)[:, None]
        )
        return {"scores": scores, "louder": tf.strings.upper(text), "label": loud}

    specs = [
        tf.TensorSpec([None], tf.string, name="text"),
        tf.TensorSpec([None], tf.bool, name="loud"),
        tf.TensorSpec([None], tf.uint8, name="level"),
        tf.TensorSpec([None, 4], tf.bfloat16, name="weights"),
    ]
    anything = [tf.TensorSpec(None, tf.float32, name="anything")]
    functions = {"free": (free, anything), "said": (said, specs)}
    return module, {
        name: tf.function(function, input_signature=inputs).get_concrete_function()
        for name, (function, inputs) in functions.items()
    }


def speaking() -> "tuple[tf.Module, tf.types.experimental.ConcreteFunction]":
    """Make a module that answers with one text, without dimensions."""
    import tensorflow as tf

    module = tf.Module()
    module.weights = tf.Variable(tf.ones((4,)))

    def say(values: tf.Tensor) -> dict[str, tf.Tensor]:
        score = tf.reduce_sum(values * module.weights)
        return {"score": score, "said": tf.strings.as_string(score)}

    inputs = [tf.TensorSpec([None, 4], tf.float32, name="values")]
    return module, tf.function(say, input_signature=inputs).get_concrete_function()


def _write_all(folder: Path) -> None:
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    models = {"cnn": cnn(), "pyramid": pyramid(), "two": two(), "words": words()}
    for name, model in models.items():
        model.save(folder / f"{name}.keras")
        model.save(folder / f"{name}.h5")
        tf.saved_model.save(model, str(folder / f"{name}-saved"))
    models["two"].export(str(folder / "two-exported"), verbose=False)
    for dtype in ("float16", "bfloat16", "float64"):
        half(dtype).save(folder / f"{dtype}.keras")
    half("float16").save(folder / "float16.h5")
    mixed().save(folder / "mixed.keras")
    once = trained()
    for ending in (".keras", ".h5"):
        once.save(folder / f"trained{ending}")
        custom().save(folder / f"custom{ending}")
        with_lambda().save(folder / f"lambda{ending}")
    tf.saved_model.save(once, str(folder / "trained-saved"))
    module, say = speaking()
    tf.saved_model.save(module, str(folder / "speaking"), signatures=say)
    module, signatures = signed()
    tf.saved_model.save(module, str(folder / "signed-saved"), signatures=signatures)


if __name__ == "__main__":
    _write_all(Path(sys.argv[1]))
