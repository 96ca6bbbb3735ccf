"""The sampler on a made-up Mac: `python -m tests.darwin_sampler STUB PID TRACE ...`."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from harness import sampler
from harness.platforms.darwin import Darwin
from tests.libsystem import Mac, nothing_said


def main(arguments: Sequence[str]) -> int:
    """Watch a real process whose memory is what the stub tells; its settings are JSON."""
    stub, settings, *rest = arguments
    mac = Mac(Path(stub))
    mac.set("real_pids", 1)
    for name, value in json.loads(settings).items():
        mac.set(name, value)
    return sampler.main(rest, Darwin(mac.library, nothing_said))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
