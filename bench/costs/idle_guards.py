"""The guards of a run, each with a limit that is never reached: the sampler does all of their work.

A sampler without them would be measured at less than it costs in a run, and one with those of a run
might end the process that it is measured on.
"""

import json

NEVER = 1e18
"""Seconds, bytes, bytes a second: more than any machine has of them."""
IDLE_GUARDS = json.dumps(
    {
        "least_available_bytes": 0,
        "least_free_disk_bytes": 0,
        "most_written_bytes": int(NEVER),
        "most_swapped_in_bytes_per_s": NEVER,
        "canary_silent_s": NEVER,
        "critical_pressure_s": 30.0,  # guard.Guards takes no more
        "trial_s": NEVER,
    }
)
"""As harness.sampler takes them after --guards; bench/costs shares no module with it."""
