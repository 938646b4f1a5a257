/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning: before any other code of the program, but for the dynamic linker's. */
#include "loader.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/syscall.h>

Process process;

/* ---- what the kernel told the program ---- */

/* The value of a variable in the environment that the kernel was given, or NULL. */
static const char *variable(const Array *environment, const char *name_and_equals) {
    const char *text = (const char *)environment->items;
    const char *end = text + environment->n;
    for (; text < end; text += text_length(text) + 1) {
        if (text_begins(text, name_and_equals)) {
            return text + text_length(name_and_equals);
        }
    }
    return NULL;
}

static bool read_auxiliary(void) {
    Array content;
    const Elf64_auxv_t *entry = (const Elf64_auxv_t *)call_read_all("/proc/self/auxv", &content);
    bool has_usual_pages = false;
    for (; entry && entry->a_type != AT_NULL; entry++) {
        const uint64_t value = entry->a_un.a_val;
        switch (entry->a_type) {
        case AT_PAGESZ: has_usual_pages = value == 4096; break;
        case AT_PHDR: process.executable_headers = value; break;
        case AT_PHNUM: process.n_executable_headers = value; break;
        case AT_BASE: process.linker = value; break;
        case AT_SYSINFO_EHDR: process.vdso = value; break;
        case AT_RANDOM: process.stack_end = value; break;
        case AT_HWCAP2: process.has_fsgsbase = value & 2; break;
        default: break;
        }
    }
    array_end(&content);
    return has_usual_pages && process.executable_headers && process.stack_end;
}

static void cpuid(uint32_t leaf, uint32_t registers[4]) {
    __asm__ volatile("cpuid"
                     : "=a"(registers[0]), "=b"(registers[1]), "=c"(registers[2]),
                       "=d"(registers[3])
                     : "0"(leaf), "2"(0));
}

/* STTILECFG exists, and the kernel lets programs use it. */
static bool has_tiles(void) {
    uint32_t registers[4], low, high;
    cpuid(0, registers);
    if (registers[0] < 7) {
        return false;
    }
    cpuid(1, registers);
    if (!(registers[2] & 1u << 27)) { /* OSXSAVE */
        return false;
    }
    cpuid(7, registers);
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return registers[3] & 1u << 24 && (low & 0x60000) == 0x60000;
}

/* ---- */

static uint64_t name_of_executable(void) {
    char path[4096];
    const int64_t n = kernel(SYS_readlinkat, (uint64_t)AT_FDCWD, (uint64_t) "/proc/self/exe",
                             (uint64_t)path, sizeof path - 1, 0, 0);
    return arena_name(path, n > 0 ? (size_t)n : 0);
}

void process_began(bool is_fork, uint64_t parent) {
    const uint64_t values[4] = {(uint64_t)process.pid,
                                (uint64_t)kernel(SYS_getppid, 0, 0, 0, 0, 0, 0), is_fork, parent};
    arena_event(EVENT_BEGAN, values, name_of_executable(), 0);
}

static bool open_arena(void) {
    Array environment;
    const char *path = NULL;
    if (call_read_all("/proc/self/environ", &environment)) {
        path = variable(&environment, ARENA_VARIABLE "=");
    }
    const bool is_open = path && text_length(path) < sizeof process.arena_path && arena_map(path);
    array_end(&environment);
    if (is_open) {
        text_add(process.loader_path, 0, sizeof process.loader_path,
                 arena_text(process.arena->loader_name));
    }
    return is_open;
}

/* Another library may have come first and begun threads, which have no bank. */
static bool has_threads(void) {
    static const char line[] = "\nThreads:\t";
    Array status;
    const char *text = (const char *)call_read_all("/proc/self/status", &status);
    const char *found = text ? text_find(text, line) : NULL;
    const bool has = found && !text_begins(found + sizeof line - 1, "1\n");
    array_end(&status);
    return has;
}

static void leave_alone(void) {
    const uint64_t values[4] = {REASON_THREADS};
    arena_event(EVENT_LEFT_ALONE, values, name_of_executable(), 0);
    threads_give_up();
}

/* Its tools watch what every instruction does, ours too, and say so. The request that asks for it
   does nothing anywhere else. */
static bool is_in_valgrind(void) {
    const uint64_t request[6] = {0x1001}; /* RUNNING_ON_VALGRIND */
    uint64_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi\n rolq $13, %%rdi\n rolq $61, %%rdi\n rolq $51, %%rdi\n"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory");
    return answer != 0;
}

static void start(void) {
    static const uint8_t no_tiles[64];
    if (is_in_valgrind()) {
        return;
    }
    if (!open_arena() || !read_auxiliary()) {
        process.arena = NULL;
        return;
    }
    process.pid = kernel(SYS_getpid, 0, 0, 0, 0, 0, 0);
    process.tid_of_main = process.pid;
    process.number = __atomic_fetch_add(&process.arena->n_processes, 1, __ATOMIC_RELAXED);
    process.has_tiles = has_tiles();
    Thread *thread = threads_begin() ? thread_take() : NULL;
    if (!thread) {
        return;
    }
    process_marks_forks();
    process_began(false, 0);
    traffic_begin(process.arena, process.number);
    thread_begins(thread, no_tiles);
    if (!thread->current) {
        return; /* there is no memory */
    }
    if (has_threads()) {
        leave_alone();
    } else {
        modules_begin();
        traffic_begun();
    }
    if (process.arena) {
        samples_begin();
        samples_of_thread(thread);
    }
}

/* The library's only constructor; the linker calls it first (-z initfirst). */
__attribute__((constructor)) static void begin(void) {
    const Signals before = signals_block();
    start();
    signals_restore(before);
}
