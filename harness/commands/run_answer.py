"""What `memcliff run` says of its rows: each target's answer as soon as it is known, then all."""

import json
import sys
from dataclasses import dataclass, field

from harness import answer, summary
from harness.commands.run_call import Call
from harness.plan import next_trial
from harness.records import Record
from harness.runs import Run
from harness.series import Series, all_series


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
    display.say("")
    display.say(summary.conditions_line(rows))
    display.say(summary.quality_line(rows))
    for line in (summary.cost_line(rows), *(summary.load_line(series) for series in every)):
        if line:
            display.say(line)
    for series in every:
        display.say(summary.advice_line(series))
    display.say(f"Table: {this_run.table}")


def _print_json(call: Call, this_run: Run, every: list[Series]) -> None:
    document = {
        "table": str(this_run.table),
        "run_id": this_run.ground.run_id,
        "series": [
            {
                **summary.series_document(series),
                "answer": answer.sentence(series, call.survey.machine),
            }
            for series in every
        ],
    }
    json.dump(document, sys.stdout, indent=2)
    sys.stdout.write("\n")
