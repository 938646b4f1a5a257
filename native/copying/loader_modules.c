/* SPDX-License-Identifier: Apache-2.0 */
/* What the program has loaded: at the beginning, and whenever the dynamic linker tells of a
 * change. */
#include "loader.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "identity.h"

#define PAGE(address) ((address) & ~UINT64_C(4095))


Loaded loaded[MOST_LOADED];
uint64_t n_loaded;
uint64_t modules_lock;
static struct r_debug *debug;
static bool gs_is_used; /* by the code of a module */

/* ---- one module ---- */

typedef struct {
    Loaded *module;
    const struct link_map *map;
    MappedFile file;
    int64_t copy_file; /* descriptor */
    char path[4096], copy_path[4096], message[512];
    uint64_t identity[2];
    bool is_executable;
} Loading;

static Loading loading; /* too large for a stack; guarded by the lock */

static bool is_mapped(uint64_t address, uint64_t bytes) {
    uint8_t one;
    for (uint64_t page = PAGE(address); page < address + bytes; page += 4096) {
        if (kernel(SYS_mincore, page, 4096, (uint64_t)&one, 0, 0, 0) == -12 /* ENOMEM */) {
            return false;
        }
        if (page == PAGE(address)) { /* the first and the last are enough */
            page = PAGE(address + bytes - 1) - 4096 >= page ? PAGE(address + bytes - 1) - 4096
                                                            : page;
        }
    }
    return true;
}

/* Read segments from the file; false: it is not what is loaded. */
static bool read_segments(Loading *l) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)l->file.bytes;
    if (l->file.n < sizeof *header || memcmp(header, ELFMAG, SELFMAG)
        || header->e_machine != EM_X86_64 || header->e_phoff > l->file.n
        || header->e_phnum * sizeof(Elf64_Phdr) > l->file.n - header->e_phoff) {
        return false;
    }
    const Elf64_Phdr *segment = (const Elf64_Phdr *)(l->file.bytes + header->e_phoff);
    Loaded *module = l->module;
    bool is_it = !l->map; /* code made at run time has nothing else to be known by */
    module->lowest = ~UINT64_C(0);
    module->highest = 0;
    for (unsigned i = 0; i < header->e_phnum; i++, segment++) {
        const uint64_t end = segment->p_vaddr + segment->p_memsz;
        if (segment->p_type == PT_DYNAMIC) {
            is_it = module->bias + segment->p_vaddr == module->dynamic;
        }
        if (segment->p_type == PT_GNU_EH_FRAME) {
            module->eh_frame_hdr = segment->p_vaddr;
        }
        if (segment->p_type != PT_LOAD || !(l->map || segment->p_flags & PF_X)) {
            continue;
        }
        module->lowest = PAGE(segment->p_vaddr) < module->lowest ? PAGE(segment->p_vaddr)
                                                                 : module->lowest;
        module->highest = PAGE(end + 4095) > module->highest ? PAGE(end + 4095) : module->highest;
        if (segment->p_flags & PF_X && segment->p_filesz && module->n_segments < MOST_SEGMENTS) {
            module->segments[module->n_segments++] = (CodeSegment){
                module->bias + PAGE(segment->p_vaddr),
                PAGE(segment->p_vaddr + segment->p_filesz + 4095) - PAGE(segment->p_vaddr),
                PAGE(segment->p_offset), !!(segment->p_flags & PF_W)};
        }
    }
    for (size_t i = 0; is_it && i < module->n_segments; i++) {
        is_it = is_mapped(module->segments[i].address, module->segments[i].bytes);
    }
    return is_it;
}

/* By the build id in memory: at its path there may be another file by now. */
static void find_identity(Loading *l) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)l->file.bytes;
    const Elf64_Phdr *segment = (const Elf64_Phdr *)(l->file.bytes + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++, segment++) {
        const uint64_t at = l->module->bias + segment->p_vaddr;
        if (segment->p_type != PT_NOTE || !segment->p_filesz || !is_mapped(at, segment->p_filesz)) {
            continue;
        }
        uint64_t id_bytes;
        const uint8_t *id = identity_find_note((const uint8_t *)at, segment->p_filesz,
                                               segment->p_align, &id_bytes);
        if (id) {
            identity_of_note(id, id_bytes, l->file.n, l->identity);
            return;
        }
    }
    if (l->map) {
        file_identity(&l->file, l->identity);
    } else { /* made at run time: it will not be seen again */
        identity_of_content(l->file.bytes, l->file.n, l->identity);
    }
}

uint64_t find_return(const Loaded *module) {
    for (size_t i = 0; i < module->n_segments; i++) {
        const uint8_t *code = (const uint8_t *)module->segments[i].address;
        for (uint64_t k = 0; k + 64 < module->segments[i].bytes; k++) {
            if (!(k & 4095) && module->n_left && code_is_left(module, (uint64_t)code + k)) {
                k += 4095;
                continue;
            }
            /* LEAVE or POP before it: what follows an anchor's five bytes is never taken. */
            if (code[k] == 0xc3 && k && (code[k - 1] == 0xc9 || (code[k - 1] & 0xf8) == 0x58)) {
                return module->segments[i].address + k;
            }
        }
    }
    return 0;
}

static Reason take_counters(Loading *l) {
    const ArenaModule wanted = {.identity = {l->identity[0], l->identity[1]},
                                .first_counter = l->module->copy->first_counter,
                                .n_counters = l->module->copy->sections[SECTION_ROWS].n,
                                .process = ~UINT64_C(0)};
    l->module->row = arena_module(&wanted, l->path, l->copy_path);
    return l->module->row == ~UINT64_C(0) ? REASON_NO_COUNTERS : REASON_NONE;
}

/* Where caches are simulated it stays: rings may hold what the module did, not yet looked at. */
static void unmap_copy_file(Loaded *module) {
    if (module->copy && process.arena->options & OPTION_TRAFFIC) {
        module->copy = NULL;
    } else if (module->copy) {
        kernel(SYS_munmap, (uint64_t)module->copy, module->copy->file_bytes, 0, 0, 0, 0);
        module->copy = NULL;
    }
}

static Reason copy_module(Loading *l) {
    Reason reason = REASON_NO_COPY;
    places_know();
    if (!file_map(&l->file, l->path)) {
        return REASON_NO_COPY;
    }
    const char *opened = l->path;
    char real[4096];
    file_real_path(&l->file, opened, real, sizeof real);
    if (!read_segments(l)) {
        return REASON_CHANGED;
    }
    for (size_t i = 0; i < l->module->n_segments; i++) {
        if (l->module->segments[i].is_writable && l->map) {
            return REASON_WRITABLE;
        }
    }
    find_identity(l);
    text_add(l->path, 0, sizeof l->path, real);
    l->module->copy = copy_find(l->path, l->identity, l->copy_path, sizeof l->copy_path,
                                &l->copy_file, &reason, l->message, sizeof l->message);
    if (!l->module->copy) {
        return reason;
    }
    if (l->module->copy->lowest != l->module->lowest
        || (l->map && l->module->copy->highest != l->module->highest)) {
        return REASON_DAMAGED;
    }
    if (l->module->copy->flags & COPY_USES_GS) {
        gs_is_used = true;
        return REASON_USES_GS;
    }
    if (!l->map && !made_allows(l->module->copy)) {
        return REASON_CHECKS_ITSELF;
    }
    reason = take_counters(l);
    if (reason == REASON_NONE) {
        l->module->a_return = find_return(l->module);
        traffic_module(l->module->row, arena_row(l->module->row)->first_counter, l->module->copy,
                       l->module->bias);
        reason = copy_load(l->module, l->file.descriptor, l->copy_file,
                           arena_row(l->module->row)->first_counter, l->is_executable);
    }
    return reason;
}

static void tell(const Loading *l, Reason reason) {
    const Loaded *module = l->module;
    if (reason == REASON_NONE) {
        const uint64_t values[4] = {module->row, module->bias, (uint64_t)module->code,
                                    module->code_bytes};
        arena_event(EVENT_LOADED, values, 0, 0);
        say("copied", l->path, module->bias);
    } else {
        const uint64_t values[4] = {reason, module->bias, module->lowest, module->highest};
        arena_event(EVENT_LEFT_ALONE, values, arena_name(l->path, text_length(l->path)),
                    arena_name(l->message, text_length(l->message)));
        say(l->message, l->path, reason);
    }
}

/* True: it has a copy. */
static bool load(const struct link_map *map, const char *path, const Loaded *wanted,
                 bool is_executable) {
    uint64_t at = 0;
    while (at < n_loaded && loaded[at].is_there) { /* a row whose module is gone serves again */
        at++;
    }
    if (at == MOST_LOADED) {
        return false;
    }
    loaded[at] = *wanted;
    loading = (Loading){.module = &loaded[at], .map = map, .is_executable = is_executable};
    loading.file.descriptor = -1;
    loading.copy_file = -1;
    text_add(loading.path, 0, sizeof loading.path, path);
    const Reason reason = copy_module(&loading);
    if (reason != REASON_NONE) {
        unmap_copy_file(&loaded[at]);
    }
    tell(&loading, reason);
    file_unmap(&loading.file);
    call_close(loading.copy_file);
    __atomic_store_n(&loaded[at].is_there, 1, __ATOMIC_RELEASE);
    if (at == n_loaded) {
        __atomic_store_n(&n_loaded, at + 1, __ATOMIC_RELEASE);
    }
    return reason == REASON_NONE;
}

static void load_listed(const struct link_map *map, bool is_executable) {
    const Loaded wanted = {
        .map = (uint64_t)map, .bias = map->l_addr, .dynamic = (uint64_t)map->l_ld};
    load(map, is_executable ? "/proc/self/exe" : map->l_name, &wanted, is_executable);
}

bool module_made(const char *path, uint64_t bias) {
    const Loaded wanted = {.bias = bias};
    return load(NULL, path, &wanted, false);
}

static void unload(Loaded *module) {
    __atomic_store_n(&module->is_there, 0, __ATOMIC_RELEASE);
    if (module->code) {
        const uint64_t values[4] = {module->row};
        arena_event(EVENT_UNLOADED, values, 0, 0);
        kernel(SYS_munmap, (uint64_t)module->code, module->code_bytes, 0, 0, 0, 0);
        module->code = NULL;
    }
    unmap_copy_file(module);
}

void module_unmade(Loaded *module, bool is_gone) {
    const uint64_t values[4] = {module->row};
    if (!module->is_over && (!is_gone || module->copy->eh_frame_hdr)) {
        copy_leave(module, module->bias + module->lowest, module->bias + module->highest);
        __atomic_store_n(&module->is_over, 1, __ATOMIC_RELEASE);
        arena_event(EVENT_UNLOADED, values, 0, 0);
    } else if (is_gone && !module->copy->eh_frame_hdr) { /* else somebody may return to it */
        unload(module);
    }
}

/* ---- all of them ---- */

static bool is_ours_or_the_kernels(const struct link_map *map) {
    const uint64_t dynamic = (uint64_t)map->l_ld;
    return map->l_addr == (uint64_t)__ehdr_start
        || (process.vdso && dynamic >= process.vdso && dynamic < process.vdso + 65536);
}

static Loaded *known(const struct link_map *map) {
    for (uint64_t i = 0; i < n_loaded; i++) {
        if (loaded[i].is_there && loaded[i].map == (uint64_t)map && loaded[i].bias == map->l_addr
            && loaded[i].dynamic == (uint64_t)map->l_ld) {
            return &loaded[i];
        }
    }
    return NULL;
}

typedef struct r_debug_with_next {
    struct r_debug base;
    struct r_debug_with_next *r_next; /* of the next namespace, since version 2 */
} DebugWithNext;

static bool is_listed(const Loaded *module) {
    const DebugWithNext *space = (const DebugWithNext *)debug;
    for (; space; space = space->base.r_version >= 2 ? space->r_next : NULL) {
        for (const struct link_map *map = space->base.r_map; map; map = map->l_next) {
            if (module->map == (uint64_t)map && module->bias == map->l_addr
                && module->dynamic == (uint64_t)map->l_ld) {
                return true;
            }
        }
    }
    return false;
}

static void compare(void) {
    const DebugWithNext *space = (const DebugWithNext *)debug;
    for (uint64_t i = 0; i < n_loaded; i++) {
        if (loaded[i].is_there && loaded[i].map && !is_listed(&loaded[i])) {
            unload(&loaded[i]);
        }
    }
    for (; space; space = space->base.r_version >= 2 ? space->r_next : NULL) {
        for (const struct link_map *map = space->base.r_map; map; map = map->l_next) {
            if (!is_ours_or_the_kernels(map) && !known(map)) {
                load_listed(map, space == (const DebugWithNext *)debug && map == space->base.r_map);
            }
        }
    }
    places_forget();
}

/* The dynamic linker calls this in place of the function that it has for debuggers. */
void modules_changed(void) {
    if (debug->r_state != RT_CONSISTENT || is_quiet) {
        return;
    }
    const Signals before = signals_block();
    if (lock_take(&modules_lock)) {
        compare();
        lock_release(&modules_lock);
    }
    signals_restore(before);
}

/* A program that uses %gs itself runs as it is. */
static void give_up(void) {
    const uint64_t values[4] = {0};
    for (uint64_t i = 0; i < n_loaded; i++) {
        copy_drop(&loaded[i]);
    }
    arena_event(EVENT_USES_GS, values, 0, 0);
    threads_give_up();
}

void modules_begin(void) {
    debug = linker_debug();
    if (!debug || debug->r_version < 1 || !debug->r_map) {
        return;
    }
    linker_break = debug->r_brk;
    compare();
    if (gs_is_used) {
        give_up();
        return;
    }
    uint64_t lowest = linker_break, highest = linker_break;
    for (uint64_t i = 0; i < n_loaded; i++) {
        if (linker_break >= loaded[i].bias + loaded[i].lowest
            && linker_break < loaded[i].bias + loaded[i].highest) {
            lowest = loaded[i].bias + loaded[i].lowest;
            highest = loaded[i].bias + loaded[i].highest;
        }
    }
    if (!linker_break_patch(lowest, highest)) {
        say("modules that come later are not copied", "", linker_break);
    }
    places_forget();
}
