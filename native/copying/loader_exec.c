/* SPDX-License-Identifier: Apache-2.0 */
/* A process becomes another program, which is to be counted as well, whatever environment it
 * gets. */
#include "loader.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/syscall.h>

#define PRELOAD "LD_PRELOAD="
#define ARENA ARENA_VARIABLE "="
#define MOST_VARIABLES (1u << 20)
#define AT_ONCE 64u
#define R_OK 4

typedef struct {
    uint64_t n;       /* variables */
    uint64_t preload; /* number of LD_PRELOAD, or ~0 */
    bool has_library, has_arena;
} Environment;

/* ---- the program's own variables ---- */

/* Up to `most` pointers of the program's, no further than their page; 0: they cannot be read. */
static uint64_t read_pointers(const uint64_t *from, uint64_t *pointers, uint64_t most) {
    const uint64_t on_page = (4096 - ((uint64_t)from & 4095)) / 8;
    const uint64_t n = on_page && on_page < most ? on_page : on_page ? most : 1;
    return read_program((uint64_t)from, pointers, 8 * n) ? n : 0;
}

/* The first byte of each text; false: one of them is not there. */
static bool read_firsts(const uint64_t *texts, uint64_t n, char *firsts) {
    uint64_t here[2] = {(uint64_t)firsts, n}, there[2 * AT_ONCE];
    for (uint64_t i = 0; i < n; i++) {
        there[2 * i] = texts[i];
        there[2 * i + 1] = 1;
    }
    const int64_t read = n ? kernel(SYS_process_vm_readv, (uint64_t)process.pid, (uint64_t)here, 1,
                                    (uint64_t)there, n, 0)
                           : 0;
    for (uint64_t i = 0; read < 0 && i < n; i++) { /* forbidden here, or not there */
        if (!read_program(texts[i], &firsts[i], 1)) {
            return false;
        }
    }
    return read < 0 || read == (int64_t)n;
}

static void look_at(Environment *found, const char *text, char first) {
    if (first == 'R') {
        found->has_arena |= text_begins(text, ARENA);
    } else if (first == 'L' && text_begins(text, PRELOAD)) {
        found->preload = found->n;
        found->has_library = text_find(text, process.loader_path) != NULL;
    }
}

/* False: it cannot be read, which the kernel will tell the program. */
static bool look_through(const uint64_t *variables, Environment *found) {
    uint64_t texts[AT_ONCE];
    char firsts[AT_ONCE];
    *found = (Environment){.preload = ~UINT64_C(0)};
    while (variables && found->n < MOST_VARIABLES) {
        const uint64_t read = read_pointers(variables + found->n, texts, AT_ONCE);
        uint64_t n = 0;
        while (n < read && texts[n]) {
            n++;
        }
        if (!read || !read_firsts(texts, n, firsts)) {
            return false;
        }
        for (uint64_t i = 0; i < n; i++, found->n++) {
            look_at(found, (const char *)texts[i], firsts[i]);
        }
        if (n < read) {
            return true;
        }
    }
    return !variables;
}

/* ---- those that the new program gets ---- */

static bool make_room(Thread *thread, uint64_t bytes) {
    if (bytes > thread->environment_bytes) {
        pages_give(thread->environment, thread->environment_bytes);
        thread->environment = pages_take(bytes);
        thread->environment_bytes = thread->environment ? bytes : 0;
    }
    return thread->environment != NULL;
}

/* LD_PRELOAD without the library. */
static size_t without_library(char *text, size_t length, size_t room, const char *old) {
    const char *library = text_find(old, process.loader_path);
    const char *rest = library + text_length(process.loader_path);
    const size_t before = (size_t)(library - old);
    rest += *rest == ':' || *rest == ' ';
    for (size_t i = 0; i < before && length + 1 < room; i++) {
        text[length++] = old[i];
    }
    return text_add(text, length, room, rest);
}

/* The program's variables with what they lack, or without what they must not have, in memory of
   the thread; 0: there is none. */
static uint64_t changed(Thread *thread, const uint64_t *variables, const Environment *found,
                        bool has_library) {
    const char *old = "";
    if (found->preload != ~UINT64_C(0)) {
        old = (const char *)variables[found->preload] + text_length(PRELOAD);
    }
    const size_t room = text_length(old) + 8192;
    if (!make_room(thread, (found->n + 3) * 8 + room)) {
        return 0;
    }
    uint64_t *made = (uint64_t *)thread->environment, n = 0;
    char *text = (char *)(made + found->n + 3);
    for (uint64_t i = 0; i < found->n; i++) {
        if (i != found->preload || found->has_library == has_library) {
            made[n++] = variables[i];
        }
    }
    if (found->has_library != has_library) {
        made[n++] = (uint64_t)text;
        size_t length = text_add(text, 0, room, PRELOAD);
        if (has_library) {
            length = text_add(text, length, room, process.loader_path);
            length = *old ? text_add(text, length, room, ":") : length;
            length = text_add(text, length, room, old);
        } else {
            length = without_library(text, length, room, old);
        }
        text += length + 1;
    }
    if (!found->has_arena) {
        made[n++] = (uint64_t)text;
        text_add(text, text_add(text, 0, 128, ARENA), 128, process.arena_path);
    }
    made[n] = 0;
    return (uint64_t)made;
}

/* ---- programs that nothing may be preloaded into ---- */

/* Text of a file at a vaddr, or "". */
static const char *text_at(const MappedFile *file, const Elf64_Phdr *headers, unsigned n,
                           uint64_t address) {
    for (unsigned i = 0; i < n; i++) {
        const uint64_t at = address - headers[i].p_vaddr + headers[i].p_offset;
        if (headers[i].p_type == PT_LOAD && address >= headers[i].p_vaddr
            && address - headers[i].p_vaddr < headers[i].p_filesz && at < file->n) {
            return (const char *)file->bytes + at;
        }
    }
    return "";
}

static const Elf64_Dyn *dynamic_of(const MappedFile *file, const Elf64_Phdr *headers, unsigned n,
                                   uint64_t *entries) {
    for (unsigned i = 0; i < n; i++) {
        if (headers[i].p_type == PT_DYNAMIC && headers[i].p_offset < file->n
            && headers[i].p_filesz <= file->n - headers[i].p_offset) {
            *entries = headers[i].p_filesz / sizeof(Elf64_Dyn);
            return (const Elf64_Dyn *)(file->bytes + headers[i].p_offset);
        }
    }
    *entries = 0;
    return NULL;
}

/* The address sanitizer ends a program in which something comes before it, that of threads one
   that has memory where it expects none. */
static bool is_sanitizer(const char *library) {
    return text_begins(library, "libasan.") || text_begins(library, "libtsan.")
        || text_begins(library, "libhwasan.");
}

static bool needs_sanitizer(const MappedFile *file, const Elf64_Ehdr *header) {
    const Elf64_Phdr *headers = (const Elf64_Phdr *)(file->bytes + header->e_phoff);
    uint64_t n, strings = 0;
    const Elf64_Dyn *dynamic = dynamic_of(file, headers, header->e_phnum, &n);
    for (uint64_t i = 0; i < n && dynamic[i].d_tag != DT_NULL; i++) {
        strings = dynamic[i].d_tag == DT_STRTAB ? dynamic[i].d_un.d_ptr : strings;
    }
    for (uint64_t i = 0; i < n && dynamic[i].d_tag != DT_NULL; i++) {
        if (dynamic[i].d_tag == DT_NEEDED
            && is_sanitizer(
                text_at(file, headers, header->e_phnum, strings + dynamic[i].d_un.d_val))) {
            return true;
        }
    }
    return false;
}

/* Of another machine's programs the linker would complain that it cannot preload this, and where
   the root has changed, that it is not there. */
static bool may_preload(const char *path) {
    MappedFile file;
    bool may = true;
    if (kernel(SYS_faccessat, (uint64_t)AT_FDCWD, (uint64_t)process.loader_path, R_OK, 0, 0, 0)) {
        return false;
    }
    if (!file_map(&file, path)) {
        return true;
    }
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file.bytes;
    if (file.n >= sizeof *header && !memcmp(header, ELFMAG, SELFMAG)) {
        const bool is_ours =
            header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64;
        const bool has_headers = header->e_phoff < file.n
            && header->e_phnum * sizeof(Elf64_Phdr) <= file.n - header->e_phoff;
        may = is_ours && !(has_headers && needs_sanitizer(&file, header));
    }
    file_unmap(&file);
    return may;
}

static bool is_vfork(const Thread *thread) {
    return (uint64_t)kernel(SYS_gettid, 0, 0, 0, 0, 0, 0) != thread->tid;
}

/* A text of the program's, cut to the room there is. */
static size_t read_name(uint64_t from, char *name, size_t room) {
    size_t n = 0;
    name[0] = 0;
    while (n + 1 < room) {
        const uint64_t on_page = 4096 - ((from + n) & 4095);
        const uint64_t wanted = on_page < room - 1 - n ? on_page : room - 1 - n;
        if (!read_program(from + n, name + n, wanted)) {
            return 0;
        }
        name[n + wanted] = 0;
        const size_t added = text_length(name + n);
        n += added;
        if (added < wanted) {
            break;
        }
    }
    return n;
}

void exec_begins(Thread *thread, Frame *frame) {
    Environment found;
    uint64_t *environment = frame->rax == SYS_execve ? &frame->rdx : &frame->r10;
    const uint64_t path = frame->rax == SYS_execve ? frame->rdi : frame->rsi;
    char name[256];
    const size_t n = read_name(path, name, sizeof name);
    const uint64_t values[4] = {is_vfork(thread)};
    if (!is_vfork(thread)) {
        traffic_ring(bank_here());
        traffic_ends(process.number, false, bank_after);
    }
    arena_event(EVENT_EXECS, values, arena_name(name, n), 0);
    const uint64_t *variables = (const uint64_t *)*environment;
    if (process.loader_path[0] && look_through(variables, &found)) {
        const bool may = may_preload(name);
        if (found.has_library != may || (may && !found.has_arena)) {
            const uint64_t made = changed(thread, variables, &found, may);
            *environment = made ? made : *environment;
        }
    }
}

void exec_failed(const Thread *thread, const Frame *frame) {
    const uint64_t values[4] = {-frame->rax, is_vfork(thread)};
    arena_event(EVENT_EXEC_FAILED, values, 0, 0);
}
