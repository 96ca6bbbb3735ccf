/* A libSystem that does what it is told: the calls that memcliff makes on macOS, for any Unix.

   The structs are typed from the documented order of their fields, so that the compiler, and not the
   table in harness/platforms/darwin_layouts.py, decides where a field lies. stub_set() sets one
   number by name; a field of a struct is named by struct and field, as in "usage.ri_pageins".
   What it can be made to do: see the list `settings` below. */

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef uint64_t u64;
typedef uint32_t u32;

/* bsd/sys/resource.h */
struct usage {
    unsigned char ri_uuid[16];
    u64 ri_user_time, ri_system_time, ri_pkg_idle_wkups, ri_interrupt_wkups, ri_pageins,
        ri_wired_size, ri_resident_size, ri_phys_footprint, ri_proc_start_abstime,
        ri_proc_exit_abstime, ri_child_user_time, ri_child_system_time, ri_child_pkg_idle_wkups,
        ri_child_interrupt_wkups, ri_child_pageins, ri_child_elapsed_abstime, ri_diskio_bytesread,
        ri_diskio_byteswritten, ri_cpu_time_qos_default, ri_cpu_time_qos_maintenance,
        ri_cpu_time_qos_background, ri_cpu_time_qos_utility, ri_cpu_time_qos_legacy,
        ri_cpu_time_qos_user_initiated, ri_cpu_time_qos_user_interactive, ri_billed_system_time,
        ri_serviced_system_time, ri_logical_writes, ri_lifetime_max_phys_footprint,
        ri_instructions, ri_cycles, ri_billed_energy, ri_serviced_energy,
        ri_interval_max_phys_footprint, ri_runnable_time, ri_flags, ri_user_ptime, ri_system_ptime,
        ri_pinstructions, ri_pcycles, ri_energy_nj, ri_penergy_nj, ri_secure_time_in_system,
        ri_secure_ptime_in_system, ri_neural_footprint, ri_lifetime_max_neural_footprint,
        ri_interval_max_neural_footprint, ri_reserved[9];
};

/* osfmk/mach/vm_statistics.h, with what macOS 26 and 27 add */
struct statistics {
    u32 free_count, active_count, inactive_count, wire_count;
    u64 zero_fill_count, reactivations, pageins, pageouts, faults, cow_faults, lookups, hits, purges;
    u32 purgeable_count, speculative_count;
    u64 decompressions, compressions, swapins, swapouts;
    u32 compressor_page_count, throttled_count, external_page_count, internal_page_count;
    u64 total_uncompressed_pages_in_compressor, swapped_count, later[32];
};

/* osfmk/mach/task_info.h */
#pragma pack(push, 4)
struct task {
    u64 virtual_size;
    u32 region_count, page_size;
    u64 resident_size, resident_size_peak, device, device_peak, internal, internal_peak, external,
        external_peak, reusable, reusable_peak, purgeable_volatile_pmap,
        purgeable_volatile_resident, purgeable_volatile_virtual, compressed, compressed_peak,
        compressed_lifetime, phys_footprint, min_address, max_address, ledger_phys_footprint_peak,
        ledger_purgeable_nonvolatile, ledger_purgeable_novolatile_compressed,
        ledger_purgeable_volatile, ledger_purgeable_volatile_compressed,
        ledger_tag_network_nonvolatile, ledger_tag_network_nonvolatile_compressed,
        ledger_tag_network_volatile, ledger_tag_network_volatile_compressed,
        ledger_tag_media_footprint, ledger_tag_media_footprint_compressed,
        ledger_tag_media_nofootprint, ledger_tag_media_nofootprint_compressed,
        ledger_tag_graphics_footprint, ledger_tag_graphics_footprint_compressed,
        ledger_tag_graphics_nofootprint, ledger_tag_graphics_nofootprint_compressed,
        ledger_tag_neural_footprint, ledger_tag_neural_footprint_compressed,
        ledger_tag_neural_nofootprint, ledger_tag_neural_nofootprint_compressed,
        limit_bytes_remaining;
    u32 decompressions;
    u64 ledger_swapins, ledger_tag_neural_nofootprint_total, ledger_tag_neural_nofootprint_peak;
};
#pragma pack(pop)

/* bsd/sys/proc_info.h; comm and name stand for the bytes that nothing here reads */
struct process {
    u32 pbi_flags, pbi_status, pbi_xstatus, pbi_pid, pbi_ppid, pbi_uid, ids[5], rfu;
    char pbi_comm[16], pbi_name[32];
    u32 pbi_nfiles, pbi_pgid, pbi_pjobc, e_tdev, e_tpgid;
    int32_t pbi_nice;
    u64 pbi_start_tvsec, pbi_start_tvusec;
};

struct swap {
    u64 total, avail, used;
    u32 pagesize, encrypted;
};

static struct usage usage;
static struct statistics statistics;
static struct task task;
static struct process process;

/* What it does; 0 unless said. */
static struct {
    const char *name;
    long long value;
} settings[] = {
#define USAGE_ERRNO settings[0].value /* proc_pid_rusage fails so */
    {"usage_errno", 0},
#define USAGE_NEWEST settings[1].value /* a later flavor is EINVAL */
    {"usage_newest", 6},
#define USAGE_LIMIT settings[2].value /* after so many calls the process has gone; 0: never */
    {"usage_limit", 0},
#define REAL_PIDS settings[3].value /* 1: a pid that this system does not have has gone */
    {"real_pids", 0},
#define RESET_ERRNO settings[4].value
    {"reset_errno", 0},
#define PIDINFO_ERRNO settings[5].value
    {"pidinfo_errno", 0},
#define HOST_INTS settings[6].value /* the kernel's own count: 24, 38, 40, 62, 104 */
    {"host_ints", 38},
#define HOST_STRICT settings[7].value /* 1: a smaller count is -307, as in macOS 27 */
    {"host_strict", 0},
#define HOST_ANSWER settings[8].value /* any other answer than 0 */
    {"host_answer", 0},
#define HOST_WANTS settings[9].value /* the count stored with -307; 0: the kernel's own */
    {"host_wants", 0},
#define HOST_FROZEN settings[10].value /* 1: a copy of the last answer is given out */
    {"host_frozen", 0},
#define NAME_ANSWER settings[11].value /* task_name_for_pid */
    {"name_answer", 0},
#define TASK_ANSWER settings[12].value
    {"task_answer", 0},
#define TASK_INTS settings[13].value /* 36, 38, 42, 84, 86, 87, 89 or 93 by its revision */
    {"task_ints", 93},
#define XATTR_ERRNO settings[14].value
    {"xattr_errno", 0},
#define MSYNC_ERRNO settings[15].value
    {"msync_errno", 0},
#define STEP settings[16].value /* at each reset of the peak all counters and sizes grow so far */
    {"step", 0},
#define STEP_PAGES settings[17].value
    {"step_pages", 0},
#define LAST_RISE settings[18].value /* with real_pids: a zombie's peak lies so much higher */
    {"last_rise", 0},
    {NULL, 0},
};

static struct {
    const char *name;
    void *at;
    size_t bytes;
} fields[] = {
#define FIELD(owner, field) {#owner "." #field, &owner.field, sizeof owner.field}
    FIELD(usage, ri_pageins), FIELD(usage, ri_resident_size), FIELD(usage, ri_phys_footprint),
    FIELD(usage, ri_proc_start_abstime), FIELD(usage, ri_proc_exit_abstime),
    FIELD(usage, ri_diskio_bytesread), FIELD(usage, ri_diskio_byteswritten),
    FIELD(usage, ri_lifetime_max_phys_footprint), FIELD(usage, ri_interval_max_phys_footprint),
    FIELD(statistics, wire_count), FIELD(statistics, faults), FIELD(statistics, decompressions),
    FIELD(statistics, swapins), FIELD(statistics, swapouts),
    FIELD(task, external), FIELD(task, decompressions), FIELD(task, ledger_swapins),
    FIELD(process, pbi_start_tvsec), FIELD(process, pbi_start_tvusec),
    FIELD(statistics, free_count), FIELD(statistics, active_count),
    FIELD(statistics, inactive_count), FIELD(statistics, speculative_count),
    FIELD(statistics, throttled_count), FIELD(statistics, purgeable_count),
    FIELD(statistics, external_page_count), FIELD(statistics, internal_page_count),
    FIELD(statistics, compressor_page_count), FIELD(statistics, pageins),
    FIELD(task, resident_size),
    {NULL, NULL, 0},
};

/* The sysctls: a value of so many bytes; `given` cuts it short. */
#define MOST_SYSCTLS 64
static struct {
    char name[64], value[128];
    size_t bytes, given;
} sysctls[MOST_SYSCTLS];
static int sysctl_count;

static long long calls[8];
enum { USAGE_CALLS, RESET_CALLS, HOST_CALLS, TASK_CALLS, SYSCTL_CALLS, NAME_CALLS };

u32 mach_task_self_ = 0x103;
static char attribute[256];

/* Setters. */

int stub_set(const char *name, long long value) {
    for (int i = 0; settings[i].name; i++)
        if (!strcmp(settings[i].name, name)) {
            settings[i].value = value;
            return 0;
        }
    for (int i = 0; fields[i].name; i++)
        if (!strcmp(fields[i].name, name)) {
            memcpy(fields[i].at, &value, fields[i].bytes); /* little-endian */
            return 0;
        }
    return -1;
}

long long stub_calls(int which) { return calls[which]; }

const char *stub_attribute(void) { return attribute; }

static int find(const char *name) {
    for (int i = 0; i < sysctl_count; i++)
        if (!strcmp(sysctls[i].name, name)) return i;
    return -1;
}

/* given < bytes makes the answer short; bytes 0 takes the name away */
int stub_sysctl(const char *name, const void *value, size_t bytes, size_t given) {
    int i = find(name);
    if (i < 0) i = sysctl_count++;
    if (i >= MOST_SYSCTLS || bytes > sizeof sysctls[i].value) return -1;
    snprintf(sysctls[i].name, sizeof sysctls[i].name, "%s", name);
    memcpy(sysctls[i].value, value, bytes);
    sysctls[i].bytes = bytes;
    sysctls[i].given = given;
    return 0;
}

size_t stub_offset(const char *name) {
#define OFFSET(owner, field)                                                                       \
    if (!strcmp(name, #owner "." #field)) return offsetof(struct owner, field)
    OFFSET(usage, ri_pageins);
    OFFSET(usage, ri_lifetime_max_phys_footprint);
    OFFSET(usage, ri_interval_max_phys_footprint);
    OFFSET(usage, ri_interval_max_neural_footprint);
    OFFSET(statistics, swapouts);
    OFFSET(statistics, total_uncompressed_pages_in_compressor);
    OFFSET(statistics, swapped_count);
    OFFSET(task, decompressions);
    OFFSET(task, ledger_swapins);
    OFFSET(task, ledger_tag_neural_nofootprint_peak);
    OFFSET(process, pbi_start_tvsec);
    OFFSET(process, pbi_start_tvusec);
    OFFSET(swap, used);
    if (!strcmp(name, "usage")) return sizeof(struct usage);
    if (!strcmp(name, "usage_v4")) return offsetof(struct usage, ri_flags);
    if (!strcmp(name, "task")) return sizeof(struct task);
    if (!strcmp(name, "process")) return sizeof(struct process);
    if (!strcmp(name, "swap")) return sizeof(struct swap);
    return (size_t)-1;
}

static int refuse(long long number) {
    errno = (int)number;
    return -1;
}

static int gone(int pid) { return REAL_PIDS && kill(pid, 0) != 0 && errno == ESRCH; }

/* Only Linux lets anybody but the parent see a zombie as one. */
static int zombie(int pid) {
    char path[64], state = 0;
    if (!REAL_PIDS) return 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    int found = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return found == 1 && state == 'Z';
}

/* libproc */

int proc_pid_rusage(int pid, int flavor, void *buffer) {
    static const size_t sizes[] = {96, 144, 160, 232, 296, 304, 464};
    calls[USAGE_CALLS]++;
    if (gone(pid) || (USAGE_LIMIT && calls[USAGE_CALLS] > USAGE_LIMIT)) return refuse(ESRCH);
    if (USAGE_ERRNO) return refuse(USAGE_ERRNO);
    if (flavor > USAGE_NEWEST) return refuse(EINVAL);
    struct usage told = usage;
    if (zombie(pid)) {
        told.ri_phys_footprint = 0;
        told.ri_proc_exit_abstime = 1;
        told.ri_interval_max_phys_footprint += LAST_RISE;
    }
    memcpy(buffer, &told, sizes[flavor]);
    return 0;
}

int proc_reset_footprint_interval(int pid) {
    calls[RESET_CALLS]++;
    if (gone(pid)) return refuse(ESRCH);
    if (RESET_ERRNO) return refuse(RESET_ERRNO);
    usage.ri_phys_footprint += STEP;
    usage.ri_resident_size += STEP;
    usage.ri_diskio_bytesread += STEP;
    usage.ri_diskio_byteswritten += STEP;
    usage.ri_pageins += STEP_PAGES;
    task.decompressions += STEP_PAGES;
    task.ledger_swapins += STEP;
    statistics.swapouts += STEP_PAGES;
    statistics.wire_count += STEP_PAGES;
    usage.ri_interval_max_phys_footprint = usage.ri_phys_footprint + 4096;
    return 0;
}

int proc_pidinfo(int pid, int flavor, u64 argument, void *buffer, int size) {
    (void)argument;
    if (gone(pid) || zombie(pid)) {
        errno = ESRCH;
        return 0;
    }
    if (PIDINFO_ERRNO || flavor != 3 || size < (int)sizeof process) {
        errno = PIDINFO_ERRNO ? (int)PIDINFO_ERRNO : EINVAL;
        return 0;
    }
    process.pbi_pid = (u32)pid;
    memcpy(buffer, &process, sizeof process);
    return sizeof process;
}

/* sysctl */

static int give(int i, void *old, size_t *length) {
    size_t bytes = sysctls[i].given;
    if (old && *length < bytes) return refuse(ENOMEM);
    if (old) memcpy(old, sysctls[i].value, bytes);
    *length = bytes;
    return 0;
}

int sysctlnametomib(const char *name, int *mib, size_t *ints) {
    calls[NAME_CALLS]++;
    int i = find(name);
    if (i < 0 || !sysctls[i].bytes) return refuse(ENOENT);
    if (*ints < 2) return refuse(ENOMEM);
    mib[0] = 1000;
    mib[1] = i;
    *ints = 2;
    return 0;
}

int sysctl(int *mib, u32 ints, void *old, size_t *length, void *new, size_t new_length) {
    (void)new, (void)new_length;
    calls[SYSCTL_CALLS]++;
    if (ints != 2 || mib[0] != 1000 || mib[1] >= sysctl_count) return refuse(ENOENT);
    return give(mib[1], old, length);
}

int sysctlbyname(const char *name, void *old, size_t *length, void *new, size_t new_length) {
    (void)new, (void)new_length;
    int i = find(name);
    if (i < 0 || !sysctls[i].bytes) return refuse(ENOENT);
    return give(i, old, length);
}

/* mach */

u32 mach_host_self(void) { return 0x203; }

int host_statistics64(u32 host, int flavor, int *out, u32 *count) {
    calls[HOST_CALLS]++;
    if (host != 0x203 || flavor != 4) return 4;
    if (HOST_ANSWER || (HOST_STRICT && *count < HOST_INTS)) {
        *count = (u32)(HOST_WANTS ? HOST_WANTS : HOST_INTS);
        return HOST_ANSWER ? (int)HOST_ANSWER : -307;
    }
    if (*count > HOST_INTS) *count = (u32)HOST_INTS;
    if (!HOST_FROZEN) statistics.faults++;
    memcpy(out, &statistics, 4 * *count);
    return 0;
}

int task_name_for_pid(u32 own, int pid, u32 *name) {
    (void)pid;
    if (own != mach_task_self_) return 4;
    if (NAME_ANSWER) return (int)NAME_ANSWER;
    *name = 0x303;
    return 0;
}

int task_info(u32 port, int flavor, int *out, u32 *count) {
    calls[TASK_CALLS]++;
    if (port != 0x303 || flavor != 22) return 4;
    if (TASK_ANSWER) return (int)TASK_ANSWER;
    if (*count > TASK_INTS) *count = (u32)TASK_INTS;
    memcpy(out, &task, 4 * *count);
    return 0;
}

/* files */

static int invalidated;

int msync(void *address, size_t length, int flags) {
    (void)address, (void)length;
    if (MSYNC_ERRNO) return refuse(MSYNC_ERRNO);
    if (flags != 2) return refuse(EINVAL);
    invalidated = 1;
    return 0;
}

/* macOS sets further bits beside the one for a page in memory */
int mincore(const void *address, size_t length, char *vector) {
    (void)address;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < (length + page - 1) / page; i++) vector[i] = invalidated ? 0x40 : 0x47;
    return 0;
}

int setxattr(const char *path, const char *name, const void *value, size_t size, u32 position,
             int options) {
    if (XATTR_ERRNO) return refuse(XATTR_ERRNO);
    if (position || options || memcmp(value, "bplist00", 8)) return refuse(EINVAL);
    snprintf(attribute, sizeof attribute, "%s|%s|%zu", path, name, size);
    return 0;
}
