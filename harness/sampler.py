"""Watch a process from outside: `python -m harness.sampler PID TRACE`. One loop, one trace.

It takes commands on stdin and answers on stdout, a JSON object a line. It outlives Ctrl-C and its
parent: when stdin closes it ends the watched process's group before itself, and takes away the
memory group that the parent made.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from harness import guard, platforms, trace
from harness.pipes import NOTHING, Heard, Outside, Pipes
from harness.platforms import Figures, Glimpse, Group, Platform, Probe
from harness.readings import Reading, Sample
from harness.samples import Samples

SECOND_NS = 10**9
FULL_HZ = 5
"""How often a sample holds everything that the system tells, and the trace is written."""
GRACE_NS = 2 * SECOND_NS
"""Between TERM and KILL."""
IDLE_NS = SECOND_NS
"""How long to wait for a command at a time when there is nothing left to sample."""


def watch(
    probe: Probe, outside: Outside, hz: float, guards: guard.Guards, group: Group | None = None
) -> trace.Summary:
    """Sample at start + n / hz, skipping deadlines that were missed, until told to end.

    The memory group is the parent's to take away, and ours only when the parent has gone.
    """
    watcher = Watcher(probe, outside, hz, guards)
    watcher.attach()
    while not watcher.over:
        watcher.turn()
    summary = watcher.leave()
    if watcher.parent_gone and group is not None:
        group.remove()
    return summary


class Watcher:
    """What is known between two turns of the loop."""

    def __init__(self, probe: Probe, outside: Outside, hz: float, guards: guard.Guards) -> None:
        self.over = self.parent_gone = False
        self._probe, self._outside, self._guards = probe, outside, guards
        start_ns = outside.now_ns()
        self._samples = Samples(probe, start_ns)
        self._period_ns = round(SECOND_NS / hz)
        self._full_period_ns = max(1, round(hz / FULL_HZ)) * self._period_ns
        self._due_ns = start_ns + self._period_ns
        self._full_due_ns = start_ns + self._full_period_ns
        self._history: guard.History | None = None
        self._others_most_s: float | None = None
        self._beat_ns: int | None = None
        self._gone = self._stopped = False
        self._kill_ns: int | None = None

    def attach(self) -> None:
        """Take the first sample and say so."""
        figures = self._full(0)
        if figures is not None:
            self._outside.tell({"attached": True, "reading": figures})

    def turn(self) -> None:
        """Wait for what is due next, heed what comes in meanwhile, and do what has become due."""
        heard = self._outside.hear(self._idle_until_ns() if self._gone else self._due_ns)
        if heard is not NOTHING:
            self._heed(heard)
        if not self._gone:
            self.sample_when_due()
        if self._kill_ns is not None and self._outside.now_ns() >= self._kill_ns:
            self._kill()

    def _idle_until_ns(self) -> int:
        """Give the time of the next thing to do by itself when there is nothing to sample."""
        return self._outside.now_ns() + IDLE_NS if self._kill_ns is None else self._kill_ns

    def _heed(self, heard: Heard) -> None:
        """Act on what came in."""
        for command in heard.commands:
            if "edge" in command:
                self._edge(command["edge"])
            self.over = self.over or "end" in command
        if heard.parent_gone and not self.over:
            self.parent_gone = True
            self._end_group()

    def _edge(self, name: str) -> None:
        """Read, keep, and start the kernel's peak anew, before the child goes on."""
        figures = self._full(0, name)
        if figures is None:
            return
        self._probe.reset_peak()
        self._outside.tell({"edge": name, "reading": figures})

    def sample_when_due(self) -> None:
        """Take the sample whose deadline has come; of several that have, only the last.

        Most are glimpses, and get as few steps as can be: on an idle core each step costs ten times
        what it does in a row. What can wait for the next full sample does: reading what was seen,
        writing, the guards, the canary.
        """
        late_ns = self._outside.now_ns() - self._due_ns
        if late_ns < 0:
            return
        if late_ns >= self._period_ns:
            self._due_ns += late_ns // self._period_ns * self._period_ns
        deadline_ns = self._due_ns
        self._due_ns = deadline_ns + self._period_ns
        if deadline_ns >= self._full_due_ns:
            self._full_live(deadline_ns)
            return
        glimpse = self._probe.glimpse()
        if glimpse is None:
            self._leave_off()
        else:
            # The time after the reading: nothing that happens later can be in it.
            self._samples.glimpses.append((self._outside.now_ns(), deadline_ns, glimpse))

    def _full_live(self, deadline_ns: int) -> None:
        """Take the full sample that is due, and tell it."""
        periods = (deadline_ns - self._full_due_ns) // self._full_period_ns + 1
        self._full_due_ns += periods * self._full_period_ns
        figures = self._full(deadline_ns)
        if figures is not None:
            self._outside.tell({"live": figures})

    def _full(self, deadline_ns: int, edge: str | None = None) -> Figures | None:
        """Read, keep and guard everything; deadline_ns is 0 where there was none.

        None when the process has gone.
        """
        reading = self._probe.full()
        if reading is None:
            self._leave_off()
            return None
        others_s = self._others_s()
        at_ns = self._outside.now_ns()
        self._samples.look_through()
        silent_s = self._silent_s()  # before this sample counts as the last one
        late_ns = at_ns - deadline_ns if deadline_ns else 0
        sample = Sample(at_ns, late_ns, reading, edge, others_s)
        figures = self._keep(sample)
        self._guard(sample, silent_s)
        return figures

    def _leave_off(self) -> None:
        """Keep what tells of the process's end, once, and sample no more."""
        if not self._gone:
            self._gone = True
            reading = self._probe.afterwards()
            at_ns = self._outside.now_ns()
            self._samples.look_through()
            self._keep(Sample(at_ns, 0, reading))
        self._outside.tell({"gone": True})

    def _keep(self, sample: Sample) -> Figures:
        figures = sample.reading.figures()
        self._samples.add(sample, figures)
        self._outside.keep(self._samples.take())
        return figures

    def _others_s(self) -> float | None:
        """Take the canary's worst gap since this was last asked."""
        beats = self._outside.beats()
        if not beats:
            self._beat_ns = None if beats is None else self._beat_ns
            return None
        self._beat_ns = beats[-1].at_ns
        gap_s = max(beat.gap_s for beat in beats)
        self._others_most_s = max(gap_s, self._others_most_s or gap_s)
        return gap_s

    def _silent_s(self) -> float | None:
        """Tell how long the canary had been silent at the sample before.

        By its own clock, not by when its beats were read: those of before a stall of this process
        would count as new. At the sample before, since where this process stood still too (the
        machine was paused) the canary has not had its turn yet: the next full sample tells.
        """
        if self._beat_ns is None:
            return None
        return max(0, self._samples.last_ns - self._beat_ns) / SECOND_NS

    def _guard(self, sample: Sample, silent_s: float | None) -> None:
        if self._history is None or sample.edge == trace.GATE:
            self._history = guard.begun(sample, silent_s)
        else:
            self._history = guard.continued(self._history, sample, silent_s)
        stop = None if self._stopped else guard.tripped(self._guards, self._history)
        if stop is not None:
            self._stopped = True
            self._outside.tell({"stopped": stop.rule, "reason": stop.reason})
            self._end_group()

    def _end_group(self) -> None:
        if self._kill_ns is None:
            self._outside.signal_group(signal.SIGTERM)
            self._kill_ns = self._outside.now_ns() + GRACE_NS

    def _kill(self) -> None:
        """Send the KILL that follows a TERM; without a parent that was the last thing to do."""
        self._outside.signal_group(signal.SIGKILL)
        self._kill_ns = None
        self.over = self.over or self.parent_gone

    def leave(self) -> trace.Summary:
        """Finish what was begun, write the summary and tell it."""
        if self._kill_ns is not None:
            self._outside.signal_group(signal.SIGKILL)
        self._others_s()
        self._samples.look_through()
        self._outside.keep(self._samples.take())
        summary = trace.Summary(
            samples=self._samples.count,
            sample_gap_max_s=self._samples.gap_ns / SECOND_NS,
            others_gap_max_s=self._others_most_s,
            sampler_cpu_s=self._outside.cpu_s(),
            failed_reads=self._probe.failed_reads,
        )
        self._outside.keep([trace.summary_line(summary)])
        self._outside.tell({"summary": asdict(summary)})
        return summary


class Nobody:
    """The probe of a process that had gone before it could be attached to."""

    failed_reads = 0

    def glimpse(self) -> Glimpse | None:
        """Tell that it has gone."""
        return None

    def seen(self, glimpse: Glimpse) -> Figures:  # noqa: ARG002  # it takes none
        """Tell nothing."""
        return {}

    def quick(self) -> Reading | None:
        """Tell that it has gone."""
        return None

    def full(self) -> Reading | None:
        """Tell that it has gone."""
        return None

    def afterwards(self) -> Reading:
        """Tell nothing of its end."""
        return Reading()

    def reset_peak(self) -> bool:
        """Tell that there is no peak."""
        return False


def main(arguments: Sequence[str], platform: Platform | None = None) -> int:
    """Watch the process named on the command line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    options = _parser().parse_args(arguments)
    guards = guard.guards_from(options.guards)
    platform = platform or platforms.current()
    group = None if options.group is None else platform.group_at(options.group)
    probe: Probe = Nobody()
    with suppress(ProcessLookupError):
        probe = platform.probe(options.pid, options.disk, group)
    with Pipes(options.pid, options.trace, options.canary) as pipes:
        pipes.keep([trace.header_line(options.pid, options.hz)])
        platform.watchful()
        watch(probe, pipes, options.hz, guards, group)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m harness.sampler", description=__doc__)
    parser.add_argument("pid", type=int, help="the process, leader of its own group")
    parser.add_argument("trace", type=Path, help="the file to write samples to")
    parser.add_argument("--hz", type=float, default=50.0, help="samples a second")
    parser.add_argument("--disk", type=Path, default=Path(), help="folder whose space counts")
    parser.add_argument("--guards", default="{}", help="limits, as one JSON object")
    parser.add_argument("--group", type=Path, help="folder of the memory group it is in, if any")
    parser.add_argument("--canary", type=int, help="descriptor that the canary's beats come from")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
