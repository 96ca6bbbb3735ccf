"""Users' models in the child: described, loaded and inferred with, or refused."""

import os
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import h5py
import pytest

from tests.own_models import IN_ALL_FORMATS, NEED_CODE
from tests.own_tasks import Event, carried_out, facts
from tests.test_child import carried_out as carried_out_alone

KERAS_2 = Path(__file__).with_name("data") / "keras-2"
FORMATS = {".keras": "keras", ".h5": "h5"}
ENDINGS = {"-saved": "savedmodel"} | FORMATS
WHOLE = (*IN_ALL_FORMATS, "words", "trained")
MEASURED = [*(f"{name}{ending}" for name in WHOLE for ending in ENDINGS), "float16.keras",
            "float16.h5", "bfloat16.keras", "float64.keras", "mixed.keras", "two-exported",
            "speaking"]  # fmt: skip
TYPES = ("float16", "bfloat16", "float64", "mixed")
PHASES = ["import", "load", "first", *["inference"] * 4, "infer", "again", "hold"]

pytestmark = pytest.mark.framework


def describe(path: Path, **more: object) -> Event:
    return {"task": "describe", "model": str(path)} | more


def trial(path: Path, **more: object) -> Event:
    known = FORMATS.get(path.suffix, "savedmodel")
    order = {"task": "trial", "arch": "own", "model": str(path), "format": known}
    return order | {"rest_s": 0, "hold_s": 0} | more


@pytest.fixture(scope="module")
def placed(own_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the models to where a user might have them."""
    return shutil.copytree(own_models, tmp_path_factory.mktemp("own") / "mes modèles d'été")


@pytest.fixture(scope="module")
def described_and_tried(placed: Path) -> list[list[Event]]:
    """Describe all models that can be measured, then try them: one child does it all."""
    paths = [placed / name for name in MEASURED]
    types = [path.stem if path.stem in TYPES else "float32" for path in paths]
    orders = [describe(path, batch=2) for path in paths]
    orders += [trial(path, batch=2, dtype=one) for path, one in zip(paths, types, strict=True)]
    return carried_out(orders)


@pytest.fixture(scope="module")
def described(described_and_tried: list[list[Event]]) -> dict[str, Event]:
    """Give what was told of each model."""
    return {name: events[0] for name, events in zip(MEASURED, described_and_tried, strict=False)}


@pytest.fixture(scope="module")
def tried(described_and_tried: list[list[Event]]) -> dict[str, list[Event]]:
    """Give the events of each model's trial."""
    return dict(zip(MEASURED, described_and_tried[len(MEASURED) :], strict=True))


def test_each_model_goes_through_a_whole_trial(tried: dict[str, list[Event]]) -> None:
    for name, events in tried.items():
        phases = [event.get("phase", event["event"]) for event in events]
        assert phases == PHASES, (name, events[-1])


def test_what_is_told_before_a_load_is_what_the_load_brings(
    described: dict[str, Event], tried: dict[str, list[Event]]
) -> None:
    keys = ("weights_bytes", "largest_tensor_bytes", "dtype", "file_bytes")
    loaded = {name: facts(events, "load") for name, events in tried.items()}
    assert {name: [told[key] for key in keys] for name, told in described.items()} == {
        name: [edge[key] for key in keys] for name, edge in loaded.items()
    }


def test_a_repeat_gives_the_same_output_and_a_first_one_has_no_error(
    tried: dict[str, list[Event]],
) -> None:
    for name, events in tried.items():
        errors = [event["output_error"] for event in events if "output_error" in event]
        # An untrained MobileNet tells no inputs apart: there a repeat proves nothing.
        again = None if name.startswith("cnn") else pytest.approx(0, abs=1e-5)
        assert errors == [None] * 3 + [again] * 3, name


def test_a_model_is_the_same_one_in_all_its_formats(described: dict[str, Event]) -> None:
    for name in (*IN_ALL_FORMATS, "words"):
        told = [described[f"{name}{ending}"] for ending in ENDINGS]
        assert len({one["model_hash"] for one in told}) == 1
        assert [one["format"] for one in told] == list(ENDINGS.values())
    assert (
        len({one["model_hash"] for name, one in described.items() if name.endswith("-saved")}) == 5
    )


def test_the_inputs_of_each_are_told_with_the_shapes_they_are_fed_in(
    described: dict[str, Event],
) -> None:
    tokens = {"name": "tokens", "shape": [None, None], "fed": [2, 1], "dtype": "int32"}
    features = {"name": "features", "shape": [None, 12], "fed": [2, 12], "dtype": "float32"}
    for name in ("two.keras", "two.h5"):
        assert described[name]["inputs"] == [tokens, features]
    assert described["two-exported"]["inputs"] == [features, tokens]
    assert described["words.keras"]["inputs"][0]["dtype"] == "string"


def test_keras_export_is_found_to_write_each_weight_twice(described: dict[str, Event]) -> None:
    assert [name for name, told in described.items() if told["twice"]] == ["two-exported"]
    plain, exported = described["two-saved"], described["two-exported"]
    assert exported["weights_bytes"] == 2 * plain["weights_bytes"]


def test_the_type_of_the_weights_is_told(described: dict[str, Event]) -> None:
    for name in ("float16.h5", *(f"{one}.keras" for one in TYPES)):
        assert described[name]["dtype"] == name.split(".")[0]


def test_any_signature_and_any_plain_type_of_input_will_do(placed: Path) -> None:
    model, wide = placed / "signed-saved", {"anything": [2, 3, 4]}
    told = carried_out(
        [
            describe(model),
            describe(model, signature="free"),
            describe(model, signature="other"),
            trial(model, signature="free", input_shapes=wide),
            trial(model, signature="said", batch=3),
        ]
    )
    assert "several signatures, none 'serving_default': choose free or said" in told[0][0]["reason"]
    assert "--input-shape anything=1,224,224,3" in told[1][0]["reason"]
    assert "no signature 'other': choose free or said with --signature" in told[2][0]["reason"]
    assert [events[-1]["phase"] for events in told[3:]] == ["hold", "hold"]


def shortened(path: Path) -> None:
    os.truncate(path, path.stat().st_size * 2 // 3)


DATA = "variables/variables.data-00000-of-00001"
BROKEN: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "graph": (shortened, "saved_model.pb", "saved_model.pb is cut off or damaged"),
    "index": (shortened, "variables/variables.index", "is no index of a checkpoint"),
    "data": (shortened, DATA, "00000-of-00001 is cut off: .* bytes are there"),
    "no-data": (Path.unlink, DATA, "00000-of-00001 is not there"),
    "no-index": (Path.unlink, "variables/variables.index", "has no variables"),
    "no-variables": (shutil.rmtree, "variables", "has no variables"),
}


def test_a_savedmodel_that_is_not_whole_is_refused_before_and_at_its_load(
    placed: Path, tmp_path: Path
) -> None:
    orders = []
    for name, (damage, part, _) in BROKEN.items():
        damage(shutil.copytree(placed / "two-saved", tmp_path / f"{name}-saved") / part)
        orders += [describe(tmp_path / f"{name}-saved"), trial(tmp_path / f"{name}-saved")]
    ends = [events[-1] for events in carried_out(orders)]
    assert {(end["status"], end["phase"]) for end in ends} == {("refused", "load")}
    for (_, _, words), told in zip(BROKEN.values(), ends[::2], strict=True):
        assert re.search(words, told["reason"])
    assert all("again" in end["reason"] for end in ends[1::2])


def without_a_weight(source: Path, target: Path) -> Path:
    """Copy a Keras file and leave the bias of its dense layer out."""
    if source.suffix == ".h5":
        with h5py.File(shutil.copy(source, target), "a") as file:
            del file["model_weights/dense/dense/bias"]
        return target
    weights = target.with_suffix(".inner.h5")
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        weights.write_bytes(old.read("model.weights.h5"))
        with h5py.File(weights, "a") as file:
            del file["layers/dense/vars/1"]
        for name in ("metadata.json", "config.json"):
            new.writestr(name, old.read(name))
        new.write(weights, "model.weights.h5")
    return target


def test_what_cannot_be_loaded_is_refused_with_cause_and_cure(placed: Path, tmp_path: Path) -> None:
    code = "tf.saved_model.save and signatures"
    words = {placed / f"{name}{ending}": code for name in NEED_CODE for ending in (".keras", ".h5")}
    words |= {
        without_a_weight(placed / f"two{ending}", tmp_path / f"lacks{ending}"): "again"
        for ending in (".keras", ".h5")
    }
    words |= {
        KERAS_2 / "functional.keras": "written by Keras 2.16.0, and Keras 3.15.1 cannot read it",
        KERAS_2 / "lstm.h5": "written by Keras 2.16.0, and Keras 3.15.1 cannot read it",
    }
    shutil.copytree(placed / "cnn-saved", tmp_path / "other-saved", ignore=lambda *_: ["variables"])
    shutil.copytree(placed / "two-saved" / "variables", tmp_path / "other-saved" / "variables")
    words[tmp_path / "other-saved"] = "not those of its model"
    told = carried_out([trial(path) for path in words])
    for (path, expected), events in zip(words.items(), told, strict=True):
        assert (events[-1].get("status"), events[-1]["phase"]) == ("refused", "load"), path
        assert expected in events[-1]["reason"]


def test_a_length_that_the_model_cannot_work_with_leads_to_input_shape(placed: Path) -> None:
    old, (*_, failed) = carried_out(
        [
            trial(KERAS_2 / "plain.h5"),
            trial(placed / "two.keras", input_shapes={"tokens": [3, 5]}),
        ]
    )
    assert old[-1]["phase"] == "hold", "Keras 3 reads this file of Keras 2"
    assert (failed["status"], failed["phase"]) == ("refused", "first")
    assert "--input-shape NAME=" in failed["reason"]


def test_a_whole_child_describes_and_tries_a_model(placed: Path) -> None:
    told, done = carried_out_alone(describe(placed / "two-saved"))[1:]
    assert (told["event"], done["event"]) == ("described", "done")
    assert carried_out_alone(trial(placed / "two.keras"))[-1]["event"] == "done"


def test_a_whole_child_refuses_with_words_that_name_no_folder(placed: Path) -> None:
    for order in (describe(placed / "lambda.keras"), trial(placed / "lambda.keras")):
        failed = carried_out_alone(order)[-1]
        assert (failed["event"], failed["status"]) == ("failed", "refused")
        assert "Lambda" in failed["reason"]
        assert "mes modèles" not in failed["reason"]


def test_a_model_that_is_damaged_or_gone_is_refused_without_its_name(
    placed: Path, tmp_path: Path
) -> None:
    saved = shutil.copytree(placed / "two-saved", tmp_path / "Jo's modèle")
    shortened(saved / DATA)
    lost = tmp_path / "Jo's modèle.h5"
    cut = Path(shutil.copy(placed / "two.h5", tmp_path / "Jo's modèle 2.h5"))
    shortened(cut)
    closed = Path(shutil.copy(placed / "two.keras", tmp_path / "Jo's modèle.keras"))
    shortened(closed)
    for path in (saved, lost, cut, closed):
        failed = carried_out_alone(trial(path))[-1]
        assert failed["status"] == "refused"
        assert not re.search(r"Jo|mod|/", failed["reason"].replace("model", "")), failed["reason"]
