"""The lines that samples become are those of trace.sample_line, however they are written."""

from hypothesis import given
from hypothesis import strategies as st

from harness import trace
from harness.readings import Reading, Sample
from harness.samples import Samples
from tests.fake_outside import FakeProbe
from tests.test_trace import samples


@given(samples)
def test_a_full_sample_is_written_as_the_trace_writes_it(sample: Sample) -> None:
    new = Samples(FakeProbe(), 0)
    new.add(sample, sample.reading.figures())
    assert new.take() == [trace.sample_line(sample)]
    assert new.take() == []


@given(st.integers(0, 2**63), st.integers(0, 2**40), st.integers(0, 2**63))
def test_a_glimpse_is_written_as_the_trace_writes_its_sample(
    at_ns: int, late_ns: int, glimpse: int
) -> None:
    probe = FakeProbe()
    new = Samples(probe, 0)
    new.glimpses.append((at_ns, at_ns - late_ns, glimpse))
    new.look_through()
    new.look_through()
    reading = Reading(**probe.seen(glimpse))
    assert new.take() == [trace.sample_line(Sample(at_ns, late_ns, reading))]


def test_samples_are_counted_with_the_longest_gap_between_them() -> None:
    new = Samples(FakeProbe(), 100)
    new.glimpses += [(110, 105, 1), (150, 150, 2), (160, 155, 3)]
    assert new.count == 0
    new.look_through()
    assert (new.count, new.gap_ns, new.last_ns) == (3, 40, 160)
