"""A child that needs no framework: it speaks as bench.child does, and behaves as it is told.

Its first argument is a JSON object: `infer_s_per_gb`, `load_s`, `misbehave` ({layers: how}) with
how a word of misbehave() and a phase, gate and make among them, such as kill-load; or hog-load,
which takes `hog` ({size_bytes, after}) once the file `after` is there. With `leak` ({size_bytes,
pause_s}) each inference keeps so much, and lasts so long. A user's own model holds what OWN says,
as `own` changes it; its trials misbehave as "own", and so does looking into it, in the phase
describe. As a Mac's child it also has
`gpu`, `metal`, `log` (lines for stderr) and `ran_on` (the device that does the work).
"""

import ctypes
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

LAYER_BYTES = 4096 * 4096 * 4
DIE_WITH_PARENT = 1
CHUNK_BYTES = 2**20


OWN: dict[str, Any] = {
    "format": "savedmodel", "dtype": "float32", "weights_bytes": 98_000_000,
    "file_bytes": 98_500_000, "tensors": 214, "largest_tensor_bytes": 9_400_000,
    "dtypes": {"float32": 98_000_000}, "twice": False,
    "inputs": [{"name": "image", "shape": [None, 224, 224, 3], "fed": [1, 224, 224, 3],
                "dtype": "float32"}],
    "signature": "serving_default", "signatures": ["serving_default"], "model_hash": "3f2a91c0d4e5",
}  # fmt: skip


def own(behaviour: dict[str, Any]) -> dict[str, Any]:
    return {**OWN, **behaviour.get("own", {})}


def how_of(order: dict[str, Any], behaviour: dict[str, Any]) -> str:
    name = order.get("layers") or "own"
    return str(behaviour.get("misbehave", {}).get(str(name), ""))


def tell(event: str, **more: object) -> None:
    line = json.dumps({"event": event, "t_ns": time.monotonic_ns(), **more})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def wait() -> str:
    line = sys.stdin.readline()
    if not line:
        os._exit(1)
    return line.strip()


def make(order: dict[str, Any], behaviour: dict[str, Any]) -> None:
    for wanted in order["models"]:
        misbehave(behaviour.get("misbehave", {}).get(str(wanted["layers"]), ""), "make")
        folder = Path(order["models_dir"]) / "models" / f"stand-in-{wanted['layers']}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "data").write_bytes(b"weights")
        tell("made", layer=0, of=1, bytes=7)
        tell("model", layers=wanted["layers"], format=wanted["format"], model=str(folder),
             expected=str(folder), file_bytes=7)  # fmt: skip
    tell("done")


def misbehave(how: str, phase: str) -> None:
    if how == f"kill-{phase}":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == f"abort-{phase}":
        sys.stderr.write("terminate called: what(): the roof is on fire\n")
        sys.stderr.flush()
        os.abort()
    if how == f"exit-{phase}":
        sys.exit(7)
    if how == f"hang-{phase}":
        time.sleep(3600)
    for status in ("oom_error", "invalid", "refused", "no_space"):
        if how == f"{status}-{phase}":
            tell("failed", status=status, phase=phase, reason=f"said {status}")
            sys.exit(1)


def hog(size_bytes: int, after: str) -> list[bytearray]:
    """Take memory that no compressor makes smaller, once this file is there."""
    while not Path(after).exists():
        time.sleep(0.02)
    chunk = os.urandom(CHUNK_BYTES)
    return [bytearray(chunk) for _ in range(size_bytes // CHUNK_BYTES)]


def edge(how: str, phase: str, **more: object) -> str:
    misbehave(how, phase)
    tell("edge", phase=phase, **more)
    return wait()


def trial(order: dict[str, Any], behaviour: dict[str, Any]) -> None:
    how = how_of(order, behaviour)
    weights = (order["layers"] or 0) * LAYER_BYTES or own(behaviour)["weights_bytes"]
    seconds = behaviour.get("infer_s_per_gb", 0.002) * weights / 1e9
    if how == "slow":
        seconds *= 100
    sys.stderr.write("".join(f"{line}\n" for line in behaviour.get("log", ())))
    edge(how, "import", seconds=0.01, python="3.11.7", framework="tensorflow",
         framework_version="2.16.2", keras_version="3.15.1", metal_plugin_version=None,
         device=order["device"], metal=behaviour.get("metal"), gpu=behaviour.get("gpu"),
         device_allocated_bytes=behaviour.get("metal") and 0)  # fmt: skip
    time.sleep(behaviour.get("load_s", 0.0))
    if how == "hog-load":
        hog(**behaviour["hog"])
    held = behaviour.get("metal") and (weights if order["device"] == "gpu" else 0)
    edge(how, "load", seconds=0.01, weights_bytes=weights, file_bytes=weights,
         largest_tensor_bytes=LAYER_BYTES, dtype=order.get("dtype", "float32"),
         device_allocated_bytes=held)  # fmt: skip
    told = {"seconds": seconds, "device": behaviour.get("ran_on", order["device"]),
            "output_error": 1e-6}  # fmt: skip
    if edge(how, "first", **told) != "finish":
        infer(how, seconds, **behaviour.get("leak", {}))
        rest(order, how, seconds)
    tell("done")


def infer(how: str, seconds: float, size_bytes: int = 0, pause_s: float = 0.0) -> None:
    kept: list[bytes] = []
    while True:
        misbehave(how, "infer")
        kept.append(os.urandom(size_bytes))
        time.sleep(pause_s)
        tell("inference", seconds=seconds, user_cpu_s=seconds, system_cpu_s=0.0, output_error=1e-6)
        match wait():
            case "enough":
                break
            case "finish":
                tell("done")
                os._exit(0)
    edge(how, "infer")


def rest(order: dict[str, Any], how: str, seconds: float) -> None:
    if order["rest_s"] is not None:
        edge(how, "again", seconds=seconds, output_error=1e-6)
    edge(how, "hold")


def main() -> None:
    behaviour, order = (json.loads(text) for text in sys.argv[1:])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    if order["task"] == "trial":
        misbehave(how_of(order, behaviour), "gate")
    tell("ready", pid=os.getpid())
    wait()
    if order["task"] == "make":
        make(order, behaviour)
    elif order["task"] == "describe":
        misbehave(how_of(order, behaviour), "describe")
        tell("described", **own(behaviour))
        tell("done")
    else:
        trial(order, behaviour)


if __name__ == "__main__":
    main()
