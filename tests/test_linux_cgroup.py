"""Where memory groups can be made and how, in folders of files; runs on any system."""

from pathlib import Path

import pytest

from harness.errors import MachineError
from harness.platforms.linux import Linux
from harness.platforms.linux_cgroup import Cgroup, Cgroups, processes
from harness.readings import Reading

MIB = 2**20
PAGE = 4096
APP = "user.slice/user-1000.slice/user@1000.service/app.slice"
ZSWAP = "sys/module/zswap/parameters/enabled"


def put(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def v1(tmp_path: Path) -> Path:
    put(tmp_path, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    put(tmp_path, "sys/fs/cgroup/memory/cgroup.procs", "1\n")
    return tmp_path


@pytest.fixture
def v2(tmp_path: Path) -> Path:
    """Make the tree of a user whose systemd runs this process in a scope."""
    put(tmp_path, "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n")
    put(tmp_path, "sys/fs/cgroup/cgroup.subtree_control", "cpu memory pids\n")
    put(tmp_path, "sys/fs/cgroup/cgroup.procs", "2\n")
    put(tmp_path, f"sys/fs/cgroup/{APP}/cgroup.controllers", "memory pids\n")
    put(tmp_path, f"sys/fs/cgroup/{APP}/cgroup.subtree_control", "memory pids\n")
    put(tmp_path, f"sys/fs/cgroup/{APP}/cgroup.type", "domain\n")
    put(tmp_path, f"sys/fs/cgroup/{APP}/cgroup.procs", "")
    put(tmp_path, f"sys/fs/cgroup/{APP}/run-7.scope/cgroup.procs", "7\n")
    put(tmp_path, "proc/self/cgroup", f"0::/{APP}/run-7.scope\n")
    return tmp_path


def anything(path: Path) -> bool:  # noqa: ARG001  # as root
    return True


def nothing(path: Path) -> bool:  # noqa: ARG001
    return False


def below_app(path: Path) -> bool:
    return APP in str(path)


def cgroups(root: Path) -> Cgroups:
    return Cgroups(root, PAGE, anything)


def refusal(groups: Cgroups) -> str:
    """Tell why no group can be made; making one says the same."""
    why = groups.no_group()
    assert why is not None
    with pytest.raises(MachineError) as raised:
        groups.group("ours", 64 * MIB)
    assert str(raised.value) == why
    return why


def test_a_group_of_version_1_is_made_at_the_top(v1: Path) -> None:
    assert cgroups(v1).no_group() is None
    group = cgroups(v1).group("ours", 64 * MIB)
    assert (group.kind, group.folder) == ("cgroup-v1", v1 / "sys/fs/cgroup/memory/ours")
    assert (group.folder / "memory.limit_in_bytes").read_text() == str(64 * MIB)


def test_a_limit_is_in_whole_pages(v1: Path) -> None:
    group = cgroups(v1).group("ours", 64 * MIB + PAGE - 1)
    assert (group.folder / "memory.limit_in_bytes").read_text() == str(64 * MIB)


def test_root_makes_a_group_of_version_2_at_the_top(v2: Path) -> None:
    assert cgroups(v2).no_group() is None
    group = cgroups(v2).group("ours", 64 * MIB)
    assert (group.kind, group.folder) == ("cgroup-v2", v2 / "sys/fs/cgroup/ours")
    assert (group.folder / "memory.max").read_text() == str(64 * MIB)
    control = v2 / "sys/fs/cgroup/cgroup.subtree_control"
    assert control.read_text() == "cpu memory pids\n"


def test_a_user_makes_a_group_beside_the_own_one(v2: Path) -> None:
    groups = Cgroups(v2, PAGE, below_app)
    assert groups.no_group() is None
    assert groups.group("ours", 64 * MIB).folder == v2 / "sys/fs/cgroup" / APP / "ours"


@pytest.mark.parametrize("folder", ["", APP])
def test_memory_is_shared_out_where_it_is_not_yet(v2: Path, folder: str) -> None:
    control = put(v2, f"sys/fs/cgroup/{folder}/cgroup.subtree_control", "pids\n")
    groups = Cgroups(v2, PAGE, below_app if folder else anything)
    assert groups.no_group() is None
    assert control.read_text() == "pids\n", "asking changes nothing"
    groups.group("ours", 64 * MIB)
    assert control.read_text() == "+memory"


def test_a_group_with_processes_cannot_share_out_memory(v2: Path) -> None:
    put(v2, f"sys/fs/cgroup/{APP}/cgroup.subtree_control", "pids\n")
    put(v2, f"sys/fs/cgroup/{APP}/cgroup.procs", "9\n")
    assert "systemd-run --user --scope" in refusal(Cgroups(v2, PAGE, below_app))


def test_a_folder_that_was_given_no_memory_cannot_share_it_out(v2: Path) -> None:
    put(v2, f"sys/fs/cgroup/{APP}/cgroup.subtree_control", "pids\n")
    put(v2, f"sys/fs/cgroup/{APP}/cgroup.controllers", "pids\n")
    assert "systemd-run --user --scope" in refusal(Cgroups(v2, PAGE, below_app))


def test_the_processes_above_must_be_ours_to_move(v2: Path) -> None:
    groups = Cgroups(v2, PAGE, lambda path: below_app(path) and path.name != "cgroup.procs")
    assert "systemd-run --user --scope" in refusal(groups)


def test_a_container_with_processes_at_its_top_has_no_place(v2: Path) -> None:
    put(v2, "sys/fs/cgroup/cgroup.type", "domain\n")
    put(v2, "sys/fs/cgroup/cgroup.subtree_control", "")
    put(v2, "proc/self/cgroup", "0::/\n")
    assert "not in a container" in refusal(cgroups(v2))


def test_a_user_without_a_scope_is_told_how_to_get_one(v2: Path) -> None:
    why = refusal(Cgroups(v2, PAGE, nothing))
    assert "`systemd-run --user --scope -p Delegate=yes make bench`, or as root" in why


def test_version_1_is_for_root(v1: Path) -> None:
    assert "run it as root" in refusal(Cgroups(v1, PAGE, nothing))


@pytest.mark.parametrize("controllers", [None, "cpu io pids\n"])
def test_a_system_without_memory_groups_says_so(tmp_path: Path, controllers: str | None) -> None:
    if controllers is not None:
        put(tmp_path, "sys/fs/cgroup/cgroup.controllers", controllers)
    groups = cgroups(tmp_path)
    assert refusal(groups).startswith("This system has no memory groups (cgroups): ")
    assert groups.sweep("ours") == 0
    with pytest.raises(MachineError, match="has no memory groups"):
        groups.group_at(tmp_path / "sys/fs/cgroup/memory/ours")


def test_zswap_is_refused_in_version_1(v1: Path) -> None:
    put(v1, ZSWAP, "Y\n")
    assert cgroups(v1).no_group() is None, "ballast does not stand in for what can be mended"
    with pytest.raises(MachineError, match="echo N > /sys/module/zswap/parameters/enabled"):
        cgroups(v1).group("ours", 64 * MIB)
    put(v1, ZSWAP, "N\n")
    cgroups(v1).group("ours", 64 * MIB)


@pytest.mark.parametrize("tree", ["v1", "v2"])
def test_swap_in_ram_is_refused(tree: str, request: pytest.FixtureRequest) -> None:
    root: Path = request.getfixturevalue(tree)
    put(root, "proc/swaps", "Filename Type Size Used Priority\n/dev/zram0 partition 1 0 100\n")
    with pytest.raises(MachineError, match=r"\(zram\), outside of the limit"):
        cgroups(root).group("ours", 64 * MIB)


def test_zswap_is_counted_in_version_2(v2: Path) -> None:
    put(v2, ZSWAP, "Y\n")
    assert cgroups(v2).no_group() is None


@pytest.mark.parametrize("told", [f"{32 * MIB}\n", f"{32 * MIB + 1}\n"])
def test_a_smaller_limit_above_is_refused(v2: Path, told: str) -> None:
    put(v2, f"sys/fs/cgroup/{Path(APP).parent}/memory.max", told)
    put(v2, f"sys/fs/cgroup/{APP}/memory.max", "max\n")
    with pytest.raises(MachineError, match=f"to {told.strip()} bytes instead of {64 * MIB}"):
        Cgroups(v2, PAGE, below_app).group("ours", 64 * MIB)


def test_a_group_of_that_name_is_left_alone(v1: Path) -> None:
    limit = put(v1, "sys/fs/cgroup/memory/ours/memory.limit_in_bytes", "4096\n")
    with pytest.raises(MachineError, match="a memory group ours that holds processes"):
        cgroups(v1).group("ours", 64 * MIB)
    assert limit.read_text() == "4096\n"


def test_a_folder_that_cannot_be_made_is_said_with_its_cure(v1: Path) -> None:
    with pytest.raises(MachineError, match=r"File name too long\): run it as root"):
        cgroups(v1).group("x" * 300, 64 * MIB)


def test_a_group_is_found_by_its_folder(v2: Path) -> None:
    made = cgroups(v2).group("ours", 64 * MIB)
    found = cgroups(v2).group_at(made.folder)
    assert (found.folder, found.kind) == (made.folder, made.kind)
    assert found.remove_s > made.remove_s, "who finds it has lost its parent, and time"


def test_only_a_folder_below_the_top_is_a_group(v2: Path) -> None:
    top = v2 / "sys/fs/cgroup"
    for folder in (v2 / "ours", top, top / "..", top / "ours/.."):
        with pytest.raises(MachineError, match="is no memory group"):
            cgroups(v2).group_at(folder)


def test_a_process_that_cannot_be_seen_is_never_killed(tmp_path: Path) -> None:
    put(tmp_path, "cgroup.procs", "0\n7\n0\n")
    assert processes(tmp_path) == [7]
    assert processes(tmp_path / "gone") == []


def test_a_group_that_cannot_be_entered_is_said(tmp_path: Path) -> None:
    group = Cgroup(tmp_path / "gone", "cgroup-v1")
    with pytest.raises(MachineError, match="process 7 into the memory group gone"):
        group.enter(7)


def told_by(root: Path, group: Cgroup) -> Reading:
    """Read process 7 in full, with what its group tells."""
    data = Path(__file__).parent / "data"
    for name in ("statm", "status", "io"):
        put(root, f"proc/7/{name}", (data / f"linux-{name}.txt").read_text())
    put(root, "proc/meminfo", (data / "linux-meminfo-swap.txt").read_text())
    put(root, "proc/vmstat", (data / "linux-vmstat-swap.txt").read_text())
    probe = Linux(root).probe(7, root, group)
    reading = probe.full()
    assert reading is not None
    assert probe.afterwards() == Reading(oom_kills=reading.oom_kills)
    probe.close()
    return reading


def test_what_the_group_tells_stands_for_the_systems_figures(v2: Path) -> None:
    group = cgroups(v2).group("ours", 64 * MIB)
    put(group.folder, "memory.current", f"{43 * MIB}\n")
    put(group.folder, "memory.stat", f"inactive_file {8 * MIB}\n")
    put(group.folder, "memory.swap.current", f"{5 * MIB}\n")
    put(group.folder, "memory.events", "oom 9\noom_kill 3\n")
    told, system = told_by(v2, group), Linux(v2).system(v2)
    assert told.available_bytes == (64 - 43 + 8) * MIB
    assert (told.swap_used_bytes, told.oom_kills) == (5 * MIB, 3)
    assert told.wired_bytes == system.wired_bytes is not None
    assert told.swap_total_bytes == system.swap_total_bytes is not None
    assert told.swapped_out_bytes == system.swapped_out_bytes is not None
    assert told.read_bytes == 1327104


def test_kills_elsewhere_are_never_taken_for_the_groups(v1: Path) -> None:
    told = told_by(v1, Cgroup(v1 / "sys/fs/cgroup/memory/gone", "cgroup-v1"))
    assert Linux(v1).system(v1).oom_kills == 2
    assert told.oom_kills is None
    assert told.available_bytes is None
    assert told.swap_used_bytes == Linux(v1).system(v1).swap_used_bytes is not None
