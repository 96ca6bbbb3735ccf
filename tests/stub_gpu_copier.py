"""The real copier whose Metal is the stub: `python -m tests.stub_gpu_copier LIBRARY DEVICE BYTES`.

The device is the CPU: only what Metal tells is made up.
"""

import sys
from functools import partial

from bench.device_copy import copy
from bench.device_task import carry_out, leave
from tests.metal_stub import gpu_of

if __name__ == "__main__":
    library, *arguments = sys.argv[1:]
    leave(carry_out(copy, arguments, partial(gpu_of, library)))
