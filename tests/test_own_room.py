"""What room there is for a user's own model, and what is asked before it is loaded."""

from dataclasses import replace

from harness.bounds import Choice, bounds_of
from harness.consent import about_to_happen, choice_of, question
from harness.metal import MetalLimit, Source
from harness.own.description import Description
from harness.own.room import own_peak_bytes, own_room
from harness.plan import next_trial
from harness.predict import KEPT_FREE_BYTES, Rates, peak_bytes
from harness.preview import preview
from harness.records import Limit, Machine
from harness.scope import Asked, Bounds
from tests.own_descriptions import ASKED, BYTES, GB, described
from tests.test_bounds import SWAPPING, a_survey

FREE = Limit()
LARGE = described(weights_bytes=12 * GB, format="keras", largest_tensor_bytes=2 * GB)


def asked_of(own: Description) -> Asked:
    return replace(ASKED, own_bytes=own.weights_bytes, formats=(own.format,))


def test_a_model_that_is_safe_is_loaded_without_a_question() -> None:
    room = own_room(described(), SWAPPING, ("cpu",), FREE)
    assert room.is_safe
    assert room.wanted_bytes == BYTES
    assert bounds_of(SWAPPING, room, Choice.SAFE).ceiling_bytes == BYTES


def test_a_model_that_is_not_safe_is_skipped_unless_the_user_says_so() -> None:
    room = own_room(LARGE, SWAPPING, ("cpu",), FREE)
    assert not room.is_safe
    asked = asked_of(LARGE)
    safe, everything = (bounds_of(SWAPPING, room, one) for one in (Choice.SAFE, Choice.ALL))
    skipped, made = (next_trial(asked, bounds, ()) for bounds in (safe, everything))
    assert skipped is not None
    assert skipped.skip is not None
    assert skipped.skip.startswith("13 GB of memory are available and 3 GiB are kept free")
    assert skipped.weights_bytes == 12 * GB
    assert made is not None
    assert made.skip is None


def test_the_largest_tensor_counts_for_what_is_safe() -> None:
    """Keras reads an .h5 tensor by tensor, and so its peak depends on the largest of them."""
    many = described(weights_bytes=7 * GB, format="h5", largest_tensor_bytes=GB // 10)
    one = replace(many, largest_tensor_bytes=3 * GB)
    assert own_room(many, SWAPPING, ("cpu",), FREE).is_safe
    room = own_room(one, SWAPPING, ("cpu",), FREE)
    assert not room.is_safe
    assert 0 < room.safe_bytes < 7 * GB
    peak = own_peak_bytes(one, SWAPPING, "cpu")
    assert peak == peak_bytes(7 * GB, "h5", "cpu", 13 * GB, 3 * GB)
    assert peak > 13 * GB - KEPT_FREE_BYTES


def test_a_model_of_one_large_tensor_is_told_a_size_that_would_be_safe() -> None:
    """Its own peak and the size that fits are reckoned with the same tensor."""
    one = described(weights_bytes=4 * GB, format="h5", largest_tensor_bytes=4 * GB)
    room = own_room(one, SWAPPING, ("cpu",), FREE)
    assert own_peak_bytes(one, SWAPPING, "cpu") > 13 * GB - KEPT_FREE_BYTES
    assert room.safe_bytes < 4 * GB - 10**6, "not just a byte below what is too large"
    safe_bytes = room.safe_bytes - 1000
    smaller = replace(one, weights_bytes=safe_bytes, largest_tensor_bytes=safe_bytes)
    assert own_room(smaller, SWAPPING, ("cpu",), FREE).is_safe


def test_in_a_memory_group_every_model_may_be_tried() -> None:
    limit = Limit(2 * 2**30, "cgroup-v1", 0)
    room = own_room(LARGE, SWAPPING, ("cpu",), limit)
    assert room.is_safe
    assert (room.contained, room.available_bytes) == (True, 2 * 2**30)


def test_ballast_is_taken_off_what_is_available() -> None:
    limit = Limit(ballast_bytes=10 * GB)
    model = described(weights_bytes=GB)
    assert own_room(model, SWAPPING, ("cpu",), FREE).is_safe
    assert not own_room(model, SWAPPING, ("cpu",), limit).is_safe


def test_a_gpu_needs_room_for_two_copies_and_keeps_within_metals_limit() -> None:
    mac = replace(
        a_survey(available_bytes=60 * GB),
        machine=Machine(
            os="macos", os_version="14.5", chip="Apple M1", gpu="Apple M1", ram_bytes=16 * 2**30
        ),
    )
    model = described(weights_bytes=13 * GB)
    room = own_room(model, mac, ("cpu", "gpu"), FREE)
    assert room.safe_on("cpu") == 13 * GB
    assert room.gpu is not None
    assert room.gpu.limit is not None
    assert room.safe_on("gpu") == room.gpu.limit.working_set_bytes < 13 * GB


# The question, and what is about to happen.


def test_the_question_is_whether_to_load_the_model() -> None:
    room = own_room(LARGE, SWAPPING, ("cpu",), FREE)
    words = question(room)
    assert "  all   load your model of 12 GB\n  safe  leave it alone\n" in words
    assert choice_of(room, yes=False, terminal=True, ask=lambda _words: "all") is Choice.ALL


def test_a_model_that_is_safe_on_one_device_may_be_loaded_there_alone() -> None:
    room = own_room(described(weights_bytes=8 * GB), SWAPPING, ("cpu", "gpu"), FREE)
    assert "  safe  load it on the CPU alone\n" in question(room)
    limit = MetalLimit(5 * GB, Source.ESTIMATED)
    assert room.gpu is not None
    past = replace(room, gpu=replace(room.gpu, limit=limit))
    assert "load your model of 8 GB, on the GPU past Metal's limit" in question(past)


def test_what_is_about_to_happen_names_the_model_and_no_model_files() -> None:
    seen = preview(ASKED, Bounds(BYTES, "", 13 * GB, can_swap=True), Rates())
    assert len(seen.trials) == 3
    said = about_to_happen(seen)
    assert said.startswith("Up to 3 trials, about ")
    assert said.endswith("; your model 98 MB, which needs about 553 MB.")
    assert "writes" not in said


def test_what_must_go_to_swap_is_said_though_no_file_is_written() -> None:
    asked = replace(asked_of(LARGE), formats=("savedmodel",))
    seen = preview(asked, Bounds(12 * GB, "", 8 * GB, can_swap=True), Rates())
    assert "; writes at least " in about_to_happen(seen)
