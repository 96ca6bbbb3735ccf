"""What `memcliff run` says of its rows: each target's answer as soon as it is known, then all."""

import json
import sys
from dataclasses import asdict, dataclass, field

from harness import answer, loaders, summary
from harness.commands.run_call import Call
from harness.drift_words import drift_line
from harness.load_share import load_share, load_share_line
from harness.own.room import own_peak_bytes
from harness.plan import next_trial
from harness.records import Record
from harness.runs import Run
from harness.series import Series, all_series
from harness.series_document import series_document


@dataclass(slots=True)
class Teller:
    """Prints the target's answer once, as soon as it is known."""

    call: Call
    run: Run
    told: set[tuple[str, str]] = field(default_factory=set)
    """The devices and formats whose answer was told."""

    def tell(self, rows: tuple[Record, ...]) -> None:
        """Hear of the rows after each trial."""
        if self.call.settings.quick:
            return
        every = list(all_series(self.run.ground.asked, self.run.bounds, rows))
        for series in every:
            name = (series.device, series.format)
            if name in self.told or answer.practical(series) is None:
                continue
            self.told.add(name)
            self.call.display.say(answer.sentence(series, self.call.survey.machine))
            if next_trial(self.run.ground.asked, self.run.bounds, rows) is not None:
                self.call.display.say("Now the rest, which refines it; Ctrl-C ends it safely.")


def show_answer(call: Call, this_run: Run, rows: tuple[Record, ...]) -> None:
    """Print the answers, the sizes and how it was measured; with --json, one document."""
    if not rows:
        return
    every = [series for series in all_series(this_run.ground.asked, this_run.bounds, rows)
             if series.rows]  # fmt: skip
    if call.settings.json:
        _print_json(call, this_run, every)
        return
    display = call.display
    display.say("")
    for series in every:
        display.say(answer.sentence(series, call.survey.machine))
        if call.settings.need_s is not None:
            display.say(summary.need_line(series, call.settings.need_s))
    display.say("")
    display.table(summary.HEADER, [row for series in every for row in summary.summary_rows(series)])
    _show_loaders(call, rows)
    display.say("")
    display.say(summary.conditions_line(rows))
    display.say(summary.quality_line(rows))
    loads = (summary.load_line(series) for series in every)
    shares = (load_share_line(series, every) for series in every)
    told = (*loaders.lines(rows), *map(summary.reads_line, every))
    for line in (summary.cost_line(rows), *loads, *shares, *told, *map(drift_line, rows)):
        if line:
            display.say(line)
    for line in _advice(every):
        display.say(line)
    display.say(f"Table: {this_run.table}")


def _show_loaders(call: Call, rows: tuple[Record, ...]) -> None:
    """Print the loaders side by side, where the run has several formats."""
    listing = loaders.listing(rows)
    if listing is not None:
        call.display.say("")
        call.display.say(listing.caption)
        call.display.table(listing.header, listing.rows)


def _advice(every: list[Series]) -> list[str]:
    """Say what to do: once where that is the same everywhere."""
    said = {series.where: summary.advice_line(series) for series in every}
    if len(set(said.values())) == 1:
        return [next(iter(said.values()))]
    return [f"To do {where}: {line.removeprefix('To do: ')}" for where, line in said.items()]


def _print_json(call: Call, this_run: Run, every: list[Series]) -> None:
    document = {
        "table": str(this_run.table),
        "run_id": this_run.ground.run_id,
        **_model_document(call),
        "series": [
            {
                **series_document(series),
                "answer": answer.sentence(series, call.survey.machine),
                "load_share": asdict(share) if (share := load_share(series, every)) else None,
            }
            for series in every
        ],
        "loaders": [asdict(one) for one in loaders.loadings_of(this_run.rows())],
    }
    json.dump(document, sys.stdout, indent=2)
    sys.stdout.write("\n")


def _model_document(call: Call) -> dict[str, object]:
    """Give what the user's own model holds and should take; nothing for models made here."""
    own = call.settings.own
    if own is None:
        return {}
    peaks = {one: own_peak_bytes(own, call.survey, one) for one in call.room.devices}
    return {"model": {**own.document(), "predicted_peak_bytes": peaks}}
