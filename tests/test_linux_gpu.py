"""GPUs read from a folder of files that looks like /sys and /proc."""

from pathlib import Path

from harness.gpu_memory import Gpu, Kind
from harness.platforms.linux_firmware import firmware_sources
from harness.platforms.linux_gpu import DRM, FDINFO, gpu_sources, graphics, held_bytes
from harness.sources import Source, find

DATA = Path(__file__).parent / "data" / "gpu"
GIB, MIB, KIB = 2**30, 2**20, 2**10


def put_card(root: Path, recording: str, card: str = "card0", metrics: bytes | None = None) -> None:
    folder = root / DRM[1:] / card
    for line in (DATA / recording).read_text().splitlines():
        name, content = line.split(":", 1)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content.replace("\\n", "\n") + "\n")
    if metrics is not None:
        (folder / "device" / "gpu_metrics").write_bytes(metrics)


def put_program(root: Path, recording: str, pid: int = 7, opened: str = "/dev/dri/card0") -> None:
    for name in ("fd", "fdinfo"):
        (root / "proc" / str(pid) / name).mkdir(parents=True, exist_ok=True)
    (root / "proc" / str(pid) / "fd" / "3").symlink_to(opened)
    (root / "proc" / str(pid) / "fdinfo" / "3").write_text((DATA / recording).read_text())


def gpus(root: Path) -> tuple[Gpu, ...]:
    return graphics([*gpu_sources(root), *firmware_sources(root)]).gpus


def test_an_apu_has_a_carve_out_and_gtt(tmp_path: Path) -> None:
    put_card(tmp_path, "drm-apu-cezanne.txt", metrics=bytes([136, 0, 2, 2]) + bytes(132))
    (gpu,) = gpus(tmp_path)
    assert (gpu.maker, gpu.kind) == ("amd", Kind.INTEGRATED)
    assert (gpu.own_bytes, gpu.shared_most_bytes) == (512 * MIB, 7695 * MIB)
    assert gpu.used_bytes == 480247808 + 1051754496
    assert gpu.name == "card0 (AMD 0x1638 amdgpu)"


def test_an_amd_card_is_known_by_the_maker_of_its_chips(tmp_path: Path) -> None:
    put_card(tmp_path, "drm-card-rx570.txt")
    (gpu,) = gpus(tmp_path)
    assert (gpu.kind, gpu.own_bytes, gpu.shared_most_bytes) == (Kind.DISCRETE, 4 * GIB, 4 * GIB)
    assert gpu.used_bytes is None


def test_an_amd_gpu_that_tells_neither_is_not_guessed(tmp_path: Path) -> None:
    put_card(tmp_path, "drm-apu-cezanne.txt", metrics=bytes([120, 0, 1, 4]))
    assert gpus(tmp_path)[0].kind is None
    (tmp_path / DRM[1:] / "card0/device/mem_info_vram_vendor").write_text("unknown\n")
    assert gpus(tmp_path)[0].kind is None


def test_only_the_head_of_the_metrics_is_kept(tmp_path: Path) -> None:
    put_card(tmp_path, "drm-apu-cezanne.txt", metrics=bytes([136, 0, 2, 2]) + bytes(132))
    source = find(gpu_sources(tmp_path), f"{DRM}/card0/device/gpu_metrics")
    assert source == Source(source.name if source else "", bytes([136, 0, 2, 2]),
                            figures={"format_revision": 2})  # fmt: skip


def test_an_integrated_intel_gpu_has_what_the_firmware_set_aside(tmp_path: Path) -> None:
    put_card(tmp_path, "drm-intel.txt")
    put_program(tmp_path, "fdinfo-i915.txt")
    (tmp_path / "proc" / "iomem").write_text((DATA / "iomem-intel.txt").read_text())
    (gpu,) = gpus(tmp_path)
    assert (gpu.kind, gpu.own_bytes, gpu.shared_most_bytes) == (Kind.INTEGRATED, 64 * MIB, None)
    assert gpu.seen_bytes == 6044 * KIB


def test_who_is_not_root_does_not_see_what_the_firmware_set_aside(tmp_path: Path) -> None:
    put_card(tmp_path, "drm-intel.txt")
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "iomem").write_text((DATA / "iomem-hidden.txt").read_text())
    (gpu,) = gpus(tmp_path)
    assert (gpu.kind, gpu.own_bytes, gpu.seen_bytes) == (Kind.INTEGRATED, None, None)


def test_an_intel_card_is_known_by_the_regions_that_programs_use(tmp_path: Path) -> None:
    put_card(tmp_path, "drm-intel.txt")
    uevent = tmp_path / DRM[1:] / "card0/device/uevent"
    uevent.write_text("DRIVER=xe\nPCI_SLOT_NAME=0000:03:00.0\n")
    assert gpus(tmp_path)[0].kind is None
    put_program(tmp_path, "fdinfo-xe.txt")
    (gpu,) = gpus(tmp_path)
    assert (gpu.kind, gpu.own_bytes) == (Kind.DISCRETE, None)
    assert gpu.seen_bytes == (23992 + 192) * KIB


def test_an_intel_card_may_tell_its_memory(tmp_path: Path) -> None:
    put_card(tmp_path, "drm-intel.txt")
    device = tmp_path / DRM[1:] / "card0/device"
    (device / "uevent").write_text("DRIVER=xe\nPCI_SLOT_NAME=0000:03:00.0\n")
    (device / "tile0").mkdir()
    (device / "tile0" / "physical_vram_size_bytes").write_text(f"{16 * GIB}\n")
    assert gpus(tmp_path)[0].own_bytes == 16 * GIB


def test_the_sysfs_of_an_nvidia_gpu_tells_nothing_of_its_memory(tmp_path: Path) -> None:
    put_card(tmp_path, "drm-nvidia.txt")
    assert gpus(tmp_path) == (Gpu("card0 (NVIDIA 0x2520 nvidia)", "nvidia"),)


def test_a_laptop_may_have_two(tmp_path: Path) -> None:
    put_card(tmp_path, "drm-apu-cezanne.txt", "card1")
    put_card(tmp_path, "drm-nvidia.txt", "card0")
    (tmp_path / DRM[1:] / "card0-eDP-1").mkdir()
    (tmp_path / DRM[1:] / "renderD128").mkdir()
    assert [gpu.maker for gpu in gpus(tmp_path)] == ["nvidia", "amd"]


def test_a_system_without_a_gpu_says_why_none_was_found(tmp_path: Path) -> None:
    (source,) = gpu_sources(tmp_path)
    assert (source.name, source.error) == (DRM, "No such file or directory")
    assert gpus(tmp_path) == ()


def test_a_file_that_is_refused_is_an_answer(tmp_path: Path) -> None:
    put_card(tmp_path, "drm-apu-cezanne.txt")
    vendor = tmp_path / DRM[1:] / "card0/device/mem_info_gtt_total"
    vendor.unlink()
    vendor.mkdir()  # reading a folder fails, also for root
    source = find(gpu_sources(tmp_path), f"{DRM}/card0/device/mem_info_gtt_total")
    assert source is not None
    assert source.error == "Is a directory"
    assert gpus(tmp_path)[0].shared_most_bytes is None


def test_a_client_with_two_files_open_counts_once() -> None:
    text = (DATA / "fdinfo-i915.txt").read_text()
    other = text.replace("drm-client-id:  39", "drm-client-id:  40")
    once, twice = held_bytes([text, text]), held_bytes([text, other])
    assert once["0000:00:02.0 system0"] == 6044 * KIB
    assert twice["0000:00:02.0 system0"] == 2 * 6044 * KIB


def test_the_old_name_of_a_region_counts_where_the_new_one_is_missing() -> None:
    text = (DATA / "fdinfo-amdgpu.txt").read_text()
    held = {"0000:c4:00.0 cpu": 0, "0000:c4:00.0 gtt": 25258000 * KIB,
            "0000:c4:00.0 vram": 5348 * KIB}  # fmt: skip
    assert held_bytes([text]) == held
    assert held_bytes([text + "drm-resident-gtt:\t1 MiB\n"]) == held | {"0000:c4:00.0 gtt": MIB}


def test_files_that_are_no_gpus_are_not_read(tmp_path: Path) -> None:
    put_card(tmp_path, "drm-intel.txt")
    put_program(tmp_path, "fdinfo-i915.txt", opened="/dev/null")
    source = find(gpu_sources(tmp_path), FDINFO)
    assert source is not None
    assert source.error == "no program that this user may look into has a GPU open"
