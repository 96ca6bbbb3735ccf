from harness.gpu_memory import Gpu, Graphics, Kind, sentences

GIB, MIB = 2**30, 2**20


def said(gpu: Gpu) -> str:
    return sentences(Graphics((gpu,)))[0]


def test_apple_memory_is_unified() -> None:
    words = said(Gpu("Apple M1, 7 cores", "apple", Kind.UNIFIED))
    assert words.startswith("Apple M1, 7 cores: unified memory, the same RAM for CPU and GPU")


def test_intel_memory_is_set_aside_by_the_firmware_and_taken_when_needed() -> None:
    words = said(Gpu("Intel UHD", "intel", Kind.INTEGRATED, 64 * MIB, 1536 * MIB))
    assert "The firmware set 64 MiB of RAM aside for it (pre-allocated)" in words
    assert "the system never sees that part" in words
    assert "(dynamic, DVMT); the most it may take: 1.5 GiB." in words


def test_what_intel_does_not_tell_is_not_told() -> None:
    words = said(Gpu("Intel UHD", "intel", Kind.INTEGRATED))
    assert "How much RAM the firmware set aside for it (pre-allocated) is not told" in words
    assert "also holds a fixed part is not told" in words
    assert "the most it may take: not told." in words


def test_an_apu_has_a_carve_out_and_gtt() -> None:
    words = said(Gpu("AMD", "amd", Kind.INTEGRATED, 512 * MIB, 8 * GIB, used_bytes=GIB))
    assert "Carved out of the RAM by the firmware, and not visible to the system: 512 MiB." in words
    assert "(GTT), at most 8 GiB." in words
    assert words.endswith("It has 1 GiB now.")


def test_a_card_has_memory_of_its_own() -> None:
    words = said(Gpu("RX 580", "amd", Kind.DISCRETE, 8 * GIB, 4 * GIB))
    assert "discrete, with memory of its own: 8 GiB. What lies in it takes no RAM." in words
    assert "up to 4 GiB of the system's RAM (GTT)" in words


def test_a_card_that_tells_no_size_has_none() -> None:
    words = said(Gpu("Arc", "intel", Kind.DISCRETE, seen_bytes=GIB))
    assert "memory of its own: not told" in words
    assert "Programs that this user may look into hold 1 GiB in it." in words


def test_a_gpu_of_unknown_kind_is_not_guessed() -> None:
    words = said(Gpu("card0 (NVIDIA 0x2520 nvidia)", "nvidia"))
    assert "whether it is integrated or discrete is not told" in words
    assert words.count("not told") == 3


def test_a_machine_without_a_gpu() -> None:
    assert (
        sentences(Graphics())[0]
        == "This system tells of no GPU; without one, models run on the CPU, in RAM."
    )


def test_installed_ram_is_compared_with_what_the_system_sees() -> None:
    graphics = Graphics((), 16 * GIB, int(15.5 * GIB), 15 * GIB)
    assert sentences(graphics)[-1] == (
        "RAM installed: 16 GiB, handed over by the firmware: 15.5 GiB, visible to the system: "
        "15 GiB. Firmware, GPU and kernel keep 1 GiB of it."
    )


def test_ram_that_is_not_told_is_not_compared() -> None:
    words = sentences(Graphics(visible_bytes=15 * GIB))[-1]
    assert words == (
        "RAM installed: not told, handed over by the firmware: not told, visible to the system: "
        "15 GiB."
    )


def test_a_virtual_machine_may_see_more_than_was_installed() -> None:
    words = sentences(Graphics((), 8 * GIB, None, 9 * GIB))[-1]
    assert words.endswith("keep 0 MiB of it.")
