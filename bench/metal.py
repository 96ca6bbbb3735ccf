"""What Metal tells of the GPU: its name and limits, and what this process holds on it now.

Asked through the Objective-C runtime, whose library is handed in with Metal's own: importing this
loads neither. objc_msgSend has no type of its own, and on arm64 a call without types passes
arguments where nobody looks; each message therefore goes through a prototype that is exactly its.
What a Mac does not answer is None, and no message is sent to an object that does not know it: that
would end the process.
"""

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

# They exist only in the system's cache of libraries, so no file can be looked for before loading.
RUNTIME = "/usr/lib/libobjc.A.dylib"
METAL = "/System/Library/Frameworks/Metal.framework/Metal"

_OBJECT = ctypes.c_void_p
_SELECTOR = ctypes.c_void_p
_NS_UINTEGER = ctypes.c_ulong

_MESSAGES: dict[str, Any] = {
    "respondsToSelector:": ctypes.CFUNCTYPE(ctypes.c_bool, _OBJECT, _SELECTOR, _SELECTOR),
    "name": ctypes.CFUNCTYPE(_OBJECT, _OBJECT, _SELECTOR),
    "UTF8String": ctypes.CFUNCTYPE(ctypes.c_char_p, _OBJECT, _SELECTOR),
    "count": ctypes.CFUNCTYPE(_NS_UINTEGER, _OBJECT, _SELECTOR),
    "objectAtIndex:": ctypes.CFUNCTYPE(_OBJECT, _OBJECT, _SELECTOR, _NS_UINTEGER),
    "recommendedMaxWorkingSetSize": ctypes.CFUNCTYPE(ctypes.c_uint64, _OBJECT, _SELECTOR),
    "maxBufferLength": ctypes.CFUNCTYPE(_NS_UINTEGER, _OBJECT, _SELECTOR),
    "currentAllocatedSize": ctypes.CFUNCTYPE(_NS_UINTEGER, _OBJECT, _SELECTOR),
    "hasUnifiedMemory": ctypes.CFUNCTYPE(ctypes.c_bool, _OBJECT, _SELECTOR),
}
"""Result, receiver, selector, arguments (Apple's MTLDevice, NSArray, NSString and NSObject)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the GPU may use, as Metal tells it; None is what it does not tell."""

    working_set_bytes: int | None
    """recommendedMaxWorkingSetSize: advice, more can be allocated and may thrash."""
    max_buffer_bytes: int | None
    """maxBufferLength: a single buffer above it fails."""
    unified: bool | None
    """Whether the GPU shares the computer's memory."""


class Runtime:
    """The Objective-C runtime: sends messages to objects."""

    def __init__(self, library: ctypes.CDLL) -> None:
        """Take the library; raises AttributeError when it is no Objective-C runtime."""
        text = ctypes.CFUNCTYPE(_SELECTOR, ctypes.c_char_p)
        self._selector = text(("sel_registerName", library))
        self._push = ctypes.CFUNCTYPE(ctypes.c_void_p)(("objc_autoreleasePoolPush", library))
        self._pop = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(("objc_autoreleasePoolPop", library))
        self._messages = {
            name: prototype(("objc_msgSend", library)) for name, prototype in _MESSAGES.items()
        }

    def send(self, receiver: int | None, message: str, *arguments: object) -> Any:  # noqa: ANN401 - the message decides
        """Send a message; None from nobody, and from an object that does not know it."""
        if not receiver:
            return None
        selector = self._selector(message.encode())
        knows = self._messages["respondsToSelector:"]
        if not knows(receiver, self._selector(b"respondsToSelector:"), selector):
            return None
        return self._messages[message](receiver, selector, *arguments)

    @contextmanager
    def pool(self) -> Iterator[None]:
        """Let go of the objects that were only lent, at the end of the context."""
        pool = self._push()
        try:
            yield
        finally:
            self._pop(pool)


class Gpu:
    """One GPU, as Metal knows it."""

    def __init__(self, runtime: Runtime, device: int) -> None:
        """Take a device that nobody releases: it lives as long as the process."""
        self._runtime = runtime
        self._device = device

    @classmethod
    def found(cls, runtime: ctypes.CDLL, metal: ctypes.CDLL) -> Self | None:
        """Take the system's default device, else the first of all; None where there is neither.

        A command-line program may get no default device: Apple ties it to CoreGraphics, which only
        programs with windows link.
        """
        try:
            messages = Runtime(runtime)
            device = _default_device(metal) or _first_device(messages, metal)
        except AttributeError:  # a library without one of these functions
            return None
        return cls(messages, device) if device else None

    def name(self) -> str | None:
        """Give the maker's name, such as "Apple M1"."""
        with self._runtime.pool():
            words = self._runtime.send(self._runtime.send(self._device, "name"), "UTF8String")
        return words.decode(errors="replace") if words else None

    def limits(self) -> Limits:
        """Ask for the limits; they change only when the system's settings do."""
        return Limits(
            working_set_bytes=self._runtime.send(self._device, "recommendedMaxWorkingSetSize"),
            max_buffer_bytes=self._runtime.send(self._device, "maxBufferLength"),
            unified=self._runtime.send(self._device, "hasUnifiedMemory"),
        )

    def allocated_bytes(self) -> int | None:
        """Ask what this process holds on the GPU now; buffers that wrap host memory count too."""
        allocated: int | None = self._runtime.send(self._device, "currentAllocatedSize")
        return allocated


def gpu_here() -> Gpu | None:
    """Look for a GPU that Metal knows; None on another system."""
    if platform.system() != "Darwin":
        return None
    try:
        return Gpu.found(ctypes.CDLL(RUNTIME), ctypes.CDLL(METAL))
    except OSError:
        return None


def _default_device(metal: ctypes.CDLL) -> int | None:
    device: int | None = ctypes.CFUNCTYPE(_OBJECT)(("MTLCreateSystemDefaultDevice", metal))()
    return device


def _first_device(runtime: Runtime, metal: ctypes.CDLL) -> int | None:
    devices = ctypes.CFUNCTYPE(_OBJECT)(("MTLCopyAllDevices", metal))()
    if not runtime.send(devices, "count"):
        return None
    device: int | None = runtime.send(devices, "objectAtIndex:", 0)
    return device
