"""Real small children: how they are told, heard and ended."""

import os
import sys
import time
from pathlib import Path

import pytest

from harness.process import Process


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def heard(process: Process, limit_s: float = 20.0) -> list[dict[str, object]]:
    deadline = time.monotonic() + limit_s
    messages: list[dict[str, object]] = []
    while not messages and time.monotonic() < deadline:
        messages = process.lines.read()
        time.sleep(0.01)
    return messages


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_process_is_told_words_and_tells_lines(tmp_path: Path) -> None:
    echo = 'print(\'{"got": "%s"}\' % input(), flush=True)'
    with Process(python(echo), tmp_path / "stderr") as process:
        process.tell("go")
        assert heard(process) == [{"got": "go"}]
        exit_ = process.wait(20)
    assert exit_ is not None
    assert exit_.code == 0


def test_a_signal_is_named(tmp_path: Path) -> None:
    with Process(python("import os; os.abort()"), tmp_path / "stderr") as process:
        exit_ = process.wait(20)
    assert exit_ is not None
    assert (exit_.code, exit_.signal) == (None, "SIGABRT")


LITTERS = """
import json, os, signal, tempfile
file = tempfile.NamedTemporaryFile(delete=False)
print(json.dumps({"file": file.name}), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_passing_files_of_a_killed_process_go_with_it(tmp_path: Path) -> None:
    with Process(python(LITTERS), tmp_path / "stderr") as process:
        (message,) = heard(process)
        file = Path(str(message["file"]))
        assert file.exists()
    assert not file.parent.exists()


def test_its_peak_is_told_when_it_cannot_be_our_own_size(tmp_path: Path) -> None:
    with Process(python("pass"), tmp_path / "stderr") as small:
        small.wait(20)
    with Process(python("b = b'x' * 2**30"), tmp_path / "stderr") as large:
        large.wait(60)
    assert small.exit is not None
    assert small.exit.max_rss_bytes is None
    assert large.exit is not None
    assert large.exit.max_rss_bytes is not None
    assert 2**30 < large.exit.max_rss_bytes < 1.1 * 2**30


def test_what_it_says_on_stderr_is_kept(tmp_path: Path) -> None:
    with Process(python("import sys; sys.exit('the cause')"), tmp_path / "stderr") as process:
        process.wait(20)
    assert (tmp_path / "stderr").read_text() == "the cause\n"


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc to see a process")
def test_a_group_that_ignores_term_is_killed_with_its_children(tmp_path: Path) -> None:
    stubborn = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "pid = os.fork() or os.getpid()\n"
        "print('{\"pid\": %d}' % pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with Process(python(stubborn), tmp_path / "stderr") as process:
        pids = [message["pid"] for message in heard(process)]
        while len(pids) < 2:
            pids += [message["pid"] for message in heard(process)]
        exit_ = process.end()
    assert exit_ is not None
    assert exit_.signal == "SIGKILL"
    deadline = time.monotonic() + 20
    while any(is_alive(int(str(pid))) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_alive(int(str(pid))) for pid in pids)


def test_leaving_the_context_ends_it(tmp_path: Path) -> None:
    with Process(python("import time; time.sleep(600)"), tmp_path / "stderr") as process:
        pid = process.pid
    assert process.exit is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_telling_a_process_that_has_gone_is_no_error(tmp_path: Path) -> None:
    with Process(python("pass"), tmp_path / "stderr") as process:
        process.wait(20)
        process.tell("go")
