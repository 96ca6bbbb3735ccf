import os
import select
import signal

import pytest

from harness.interrupt import Interrupt, interruptible


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_becomes_a_request_and_wakes_a_selector(number: signal.Signals) -> None:
    with interruptible() as interrupt:
        assert not interrupt.requested
        os.kill(os.getpid(), number)
        assert select.select([interrupt], [], [], 20)[0] == [interrupt]
        assert interrupt.requested


def test_the_handlers_from_before_come_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interruptible():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


def test_asking_twice_is_asking_once() -> None:
    interrupt = Interrupt()
    interrupt.request()
    interrupt.request()
    assert os.read(interrupt.fd, 10) == b"!"
    interrupt.close()


def test_a_signal_that_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible() as interrupt:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not interrupt.requested
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
