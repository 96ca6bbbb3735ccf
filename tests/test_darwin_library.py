"""Every way in which a call of libSystem can come back, on the stub."""

import ctypes
import errno
from types import SimpleNamespace
from typing import cast

import pytest

from harness.platforms import darwin_layouts as layouts
from harness.platforms.darwin_library import USAGE_V4, USAGE_V6, Library
from harness.platforms.darwin_sysctl import Refusals, Sysctls
from tests.libsystem import NAME_CALLS, SYSCTL_CALLS, Mac


def buffer(length: int = 464) -> "ctypes.Array[ctypes.c_char]":
    return ctypes.create_string_buffer(length)


def test_a_usage_fills_what_its_flavor_has(mac: Mac) -> None:
    for flavor in (USAGE_V4, USAGE_V6):
        filled = buffer()
        mac.library.usage(1, flavor, filled)
        assert layouts.usage(filled.raw).footprint_bytes == 400


@pytest.mark.parametrize(
    ("number", "error"),
    [
        (errno.ESRCH, ProcessLookupError),
        (errno.EPERM, PermissionError),
        (errno.EINVAL, OSError),
    ],
)
def test_a_refused_usage_is_an_error_of_its_kind(
    mac: Mac, number: int, error: type[OSError]
) -> None:
    mac.set("usage_errno", number)
    with pytest.raises(error) as raised:
        mac.library.usage(1, USAGE_V6, buffer())
    assert raised.value.errno == number


def test_a_process_tells_when_it_began(mac: Mac) -> None:
    assert layouts.started(mac.library.process(7)) == (1_700_000_000, 5)
    mac.set("pidinfo_errno", errno.EPERM)
    with pytest.raises(PermissionError):
        mac.library.process(7)


def test_a_sysctl_is_the_same_by_number_and_by_name(mac: Mac) -> None:
    mib, filled = mac.library.mib("hw.memsize"), buffer(64)
    length = mac.library.sysctl(mib, filled)
    assert filled.raw[:length] == mac.library.sysctl_by_name("hw.memsize")
    assert layouts.number(filled.raw[:length]) == 16 * 2**30


def test_a_sysctl_that_is_not_there_is_enoent(mac: Mac) -> None:
    for call in (mac.library.mib, mac.library.sysctl_by_name):
        with pytest.raises(FileNotFoundError):
            call("vm.compressor.swapper.swapins_total")


def test_a_function_that_is_not_there_is_enosys() -> None:
    bare = Library(cast("ctypes.CDLL", SimpleNamespace()))
    for call in (bare.reset_peak, bare.process):
        with pytest.raises(OSError, match="this macOS has no proc_") as raised:
            call(1)
        assert raised.value.errno == errno.ENOSYS


@pytest.mark.parametrize("ints", [36, 38, 42, 84, 86, 87, 89, 93])
def test_a_task_tells_how_much_it_told(mac: Mac, ints: int) -> None:
    mac.set("task_ints", ints)
    port = mac.library.task_name(1)
    assert mac.library.task_memory(port, buffer(372)) == ints


def test_a_refused_task_is_not_permitted(mac: Mac) -> None:
    mac.set("name_answer", 5)
    with pytest.raises(PermissionError):
        mac.library.task_name(1)
    mac.set("task_answer", 4)
    with pytest.raises(OSError, match="answered 4"):
        mac.library.task_memory(0x303, buffer(372))


def test_a_name_is_looked_up_once_and_read_often(mac: Mac) -> None:
    sysctls = Sysctls(mac.library, Refusals())
    assert [sysctls.number("hw.memsize") for _ in range(3)] == [16 * 2**30] * 3
    assert (mac.calls(NAME_CALLS), mac.calls(SYSCTL_CALLS)) == (1, 3)


def test_what_is_not_there_is_asked_and_counted_once(mac: Mac) -> None:
    refusals = Refusals()
    sysctls = Sysctls(mac.library, refusals)
    assert [sysctls.number("no.such.name") for _ in range(3)] == [None] * 3
    assert (refusals.count, mac.calls(NAME_CALLS)) == (1, 1)


def test_an_answer_that_is_too_short_is_counted_each_time(mac: Mac) -> None:
    refusals = Refusals()
    sysctls = Sysctls(mac.library, refusals)
    mac.sysctl("vm.swapusage", bytes(32), given=16)
    mac.sysctl("hw.memsize", bytes(8), given=2)
    for _ in range(2):
        assert sysctls.swap() is None
        assert sysctls.number("hw.memsize") is None
    assert refusals.count == 4


def test_an_empty_string_is_not_told(mac: Mac) -> None:
    sysctls = Sysctls(mac.library, Refusals())
    mac.sysctl("hw.model", b"\0")
    assert sysctls.words("hw.model") is None
    assert sysctls.words("machdep.cpu.brand_string") == "Apple M1"
