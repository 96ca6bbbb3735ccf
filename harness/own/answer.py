"""The answer about the user's own model, from the run's own rows only.

Its speed is not judged: there is no reference for it, and what other models take says nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from harness import phrases
from harness.own.words import format_name
from harness.records import Machine, Record, Status
from harness.scope import UNFED
from harness.series import Series
from harness.sizes import show_bytes
from harness.tried_size import Size
from harness.verdict import Verdict, back, inference_s

MIXED = "mixed"
"""What a child calls the type of weights of several types."""
UNJUDGED = "speed is not judged without a reference"


def own_sentence(series: Series, machine: Machine) -> str:
    """Answer in one sentence or two."""
    sizes = series.sizes()
    if not sizes:
        return f"Your model was not measured on the {series.device.upper()}."
    return _OwnAnswer(series, machine, sizes[0]).text()


def own_name(row: Record) -> str:
    """Name a model by its format, its bytes and their type."""
    model = row.model
    parts = [
        format_name(model.format),
        f"{show_bytes(model.weights_bytes or 0)} of weights",
        "mixed types" if model.dtype == MIXED else model.dtype,
    ]
    return f"your model ({', '.join(part for part in parts if part)})"


@dataclass(frozen=True, slots=True)
class _OwnAnswer:
    series: Series
    machine: Machine
    size: Size

    def text(self) -> str:
        row = self.size.typical
        if row.outcome.stop_rule == UNFED:
            return self._unfed(row)
        if not self.size.judgements:
            return (
                f"Not measured: {own_name(row)} was {row.outcome.status} on {self.where}, because "
                f"{row.outcome.reason}."
            )
        words: dict[Verdict | None, Callable[[Record], str]] = {
            Verdict.FITS: self._fits,
            Verdict.TIGHT: self._tight,
            Verdict.THRASHES: self._thrashes,
            Verdict.FAILS: self._fails,
            Verdict.UNSTEADY: self._unsteady,
            None: self._mixed,
        }
        return words[self.size.verdict](row)

    @property
    def where(self) -> str:
        return phrases.machine_name(self.machine, self.series.device, self.series.asked.limit)

    def _unfed(self, row: Record) -> str:
        reason = (row.outcome.reason or "").removesuffix(".")
        return (
            f"No answer. {_capital(own_name(row))} loads on {self.where}, but could not be fed, so "
            f"whether it stays in memory is not known: {reason}."
        )

    def _fits(self, row: Record) -> str:
        parts = [
            self._loads(row),
            f"{phrases.seconds(inference_s(row))} an inference",
            phrases.returned(row) if back(row) else "none of it came back",
            self.size.score,
        ]
        return (
            f"Yes, as far as memory goes. {_capital(own_name(row))} stays in memory on "
            f"{self.where}: {', '.join(parts)}{phrases.started(row)}; {UNJUDGED}."
        )

    def _loads(self, row: Record) -> str:
        peak = self.size.peak_bytes
        with_peak = "" if peak is None else f" with a peak of {show_bytes(peak)}"
        return f"loads in {phrases.seconds(row.timing.load_s)}{with_peak}"

    def _tight(self, row: Record) -> str:
        return (
            f"Only just. {_capital(own_name(row))} runs on {self.where}: {self._loads(row)}, "
            f"{phrases.seconds(inference_s(row))} an inference, but "
            f"{phrases.squeeze(self.series, row)}; {self.size.score}{phrases.started(row)}; "
            f"{UNJUDGED}."
        )

    def _thrashes(self, row: Record) -> str:
        return (
            f"No. {_capital(own_name(row))} loads on {self.where}, but an inference takes "
            f"{phrases.over(row)}{phrases.seconds(inference_s(row))}, because "
            f"{phrases.returned(row)} each time{phrases.written(row)} ({self.size.score})."
        )

    def _fails(self, row: Record) -> str:
        if row.outcome.status is Status.MACHINE_LOST:
            return self._machine_lost(row)
        return phrases.fails(self.series, self.size, _capital(own_name(row)), self.where)

    def _machine_lost(self, row: Record) -> str:
        device = self.series.device.upper()
        return (
            f"No, and do not retry it by accident. The machine restarted while {own_name(row)} "
            f"was tried on the {device}{phrases.begun(row)}. It is now skipped on the {device} "
            "unless you pass --retry-lost."
        )

    def _unsteady(self, row: Record) -> str:
        took = f"{phrases.over(row)}{phrases.seconds(inference_s(row))}"
        return (
            f"No answer. {_capital(own_name(row))} took {took} an inference on {self.where}, "
            f"but {self.size.judgements[-1].reason} ({self.size.score})."
        )

    def _mixed(self, row: Record) -> str:
        judged = self.size.judgements
        fine = sum(judgement.verdict.practical for judgement in judged)
        return (
            f"It varies. {_capital(own_name(row))} was practical in {fine} of {len(judged)} "
            f"trials on {self.where}."
        )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
