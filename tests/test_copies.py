"""What model files take of the disk: layers that sizes share, and copies that do not."""

from hypothesis import given
from hypothesis import strategies as st

from harness.copies import KEPT, Model, Stored, draft_bytes, stored, times_of
from harness.ladder import FORMATS

GB = 10**9
MODELS = st.lists(st.tuples(st.integers(1, 20).map(lambda n: n * GB), st.sampled_from(FORMATS)))


def kept_by_the_child(models: list[Model]) -> Stored:
    """Do what the make child does: write a file, remove the copies that were used longest ago."""
    disk: dict[object, int] = {}
    used: list[Model] = []
    most = written = 0
    for weights, name in models:
        written += max(0, weights - disk.get("layers", 0))
        disk["layers"] = max(disk.get("layers", 0), weights)
        if name != "savedmodel":
            if (weights, name) not in used:
                for old in used[: max(0, len(used) - KEPT + 1)]:
                    used.remove(old)
                    del disk[old]
                disk["draft"] = draft_bytes(weights, name)
                written += disk["draft"]
                most = max(most, sum(disk.values()))
                del disk["draft"]
            else:
                used.remove((weights, name))
            used.append((weights, name))
            disk[(weights, name)] = weights
        most = max(most, sum(disk.values()))
    return Stored(most, written)


@given(MODELS)
def test_what_is_reckoned_is_what_a_child_would_do(models: list[Model]) -> None:
    assert stored(models) == kept_by_the_child(models)


@given(MODELS)
def test_no_search_takes_more_of_the_disk_than_so_many_times_its_largest_model(
    models: list[Model],
) -> None:
    largest = max((weights for weights, _ in models), default=0)
    assert stored(models).disk_bytes <= times_of(FORMATS) * largest


def test_saved_models_share_the_layers_of_the_largest() -> None:
    sizes = [(4 * GB, "savedmodel"), (GB, "savedmodel"), (6 * GB, "savedmodel")]
    assert stored(sizes) == Stored(6 * GB, 6 * GB)


def test_a_size_in_a_format_of_its_own_is_a_copy_beside_the_layers() -> None:
    assert stored([(4 * GB, "h5")]) == Stored(8 * GB, 8 * GB)


def test_activations_lie_beside_the_layers_and_not_in_copies() -> None:
    assert stored([(GB, "h5"), (4 * GB, "h5")], 0.5) == Stored(11 * GB, 11 * GB)
    assert times_of(["h5"], 0.5) == 3.5


def test_a_keras_file_is_on_the_disk_twice_while_it_is_zipped() -> None:
    assert stored([(4 * GB, "keras")]) == Stored(12 * GB, 12 * GB)


def test_the_edges_of_a_cliff_take_turns_without_being_written_again() -> None:
    low, high = (4 * GB, "h5"), (5 * GB, "h5")
    edges = [low, high, high, low, low, high]
    assert stored(edges) == Stored(5 * GB + 9 * GB, 5 * GB + 9 * GB)


def test_a_third_copy_takes_the_place_of_the_one_used_longest_ago() -> None:
    first, second, third = ((size * GB, "h5") for size in (1, 2, 3))
    assert stored([first, second, first, third, first]).written_bytes == 3 * GB + 6 * GB
    assert stored([first, second, third, first]).written_bytes == 3 * GB + 7 * GB


def test_so_many_times_the_weights_are_needed_by_format() -> None:
    assert [times_of([name]) for name in FORMATS] == [1, 4, 3, 3]
    assert times_of(FORMATS) == 4
