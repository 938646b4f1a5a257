/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the program makes at run time and then seals: what was writable becomes executable.
 * It may stay writable if who makes it is known never to write there again.
 *
 * It is written into a file like a module's, and copied as modules are. Only what is sure is:
 * memory that no file is behind, and in it functions that call nothing but each other and jump
 * nowhere else, so nobody unwinds through them. Where there is something else behind the first
 * function, as the tables of oneDNN's kernels, only that is believed to be one: no byte is changed
 * that is not code. Where it stays writable the first is alone as well: others may change without
 * it. Before the program writes there again or unmaps it, its bytes are put back. The copy remains:
 * somebody may still be in it. */
#define _GNU_SOURCE /* MREMAP_FIXED */
#include "loader_made.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "identity.h"

#define LEAST_BYTES 16u
#define MOST_SEALS 4u /* of one place: who changes code all the time would wait for copies */
#define MOST_PLACES 1024u

static struct {
    uint64_t address, seals;
} places[MOST_PLACES];
static uint64_t n_places;

/* ---- where it is ---- */

static bool is_anonymous_line(const char *permissions) {
    return permissions[0] == 'r' && permissions[1] == 'w' && permissions[3] == 'p'
        && text_begins(permissions + 5, "00000000 00:00 0 ");
}

/* Whether all of it is private memory that no file is behind and that is not executable yet. */
static bool is_anonymous(uint64_t from, uint64_t to) {
    Array maps;
    if (!call_read_all("/proc/self/maps", &maps)) {
        return false;
    }
    const char *text = (const char *)maps.items;
    Mapping one;
    while (from < to && maps_next(&text, &one)) {
        if (one.start <= from && from < one.end) {
            if (!is_anonymous_line(one.rest)) {
                break;
            }
            from = one.end;
        }
    }
    array_end(&maps);
    return from >= to;
}

/* ---- its file ---- */

typedef struct {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    Elf64_Shdr sections[4];
    char names[40];
} FileHead;

#define SYMBOLS_AT(n) ((CODE_AT + (n) + 7) & ~UINT64_C(7))

/* A module of these functions. */
static void fill_head(FileHead *head, uint64_t n) {
    static const char names[] = "\0.text\0.strtab\0.symtab\0[made]";
    *head = (FileHead){
        .header = {.e_ident = {0x7F, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
                   .e_entry = CODE_AT + made_functions[0].begin,
                   .e_phoff = offsetof(FileHead, segment),
                   .e_shoff = offsetof(FileHead, sections), .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
                   .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 4, .e_shstrndx = 2},
        .segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = CODE_AT,
                    .p_vaddr = CODE_AT, .p_paddr = CODE_AT, .p_filesz = n, .p_memsz = n,
                    .p_align = 4096},
        .sections = {{0},
                     {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                      .sh_addr = CODE_AT, .sh_offset = CODE_AT, .sh_size = n, .sh_addralign = 64},
                     {.sh_name = 7, .sh_type = SHT_STRTAB, .sh_offset = offsetof(FileHead, names),
                      .sh_size = sizeof names, .sh_addralign = 1},
                     {.sh_name = 15, .sh_type = SHT_SYMTAB,
                      .sh_offset = SYMBOLS_AT(n),
                      .sh_size = (1 + n_made_functions) * sizeof(Elf64_Sym),
                      .sh_link = 2, .sh_info = 1, .sh_addralign = 8,
                      .sh_entsize = sizeof(Elf64_Sym)}},
    };
    memcpy(head->names, names, sizeof names);
}

static const Elf64_Sym *symbols_of_all(void) {
    static Elf64_Sym symbols[1 + MOST_FUNCTIONS];
    for (uint64_t i = 0; i < n_made_functions; i++) {
        symbols[1 + i] = (Elf64_Sym){.st_name = 23, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                     .st_shndx = 1, .st_value = CODE_AT + made_functions[i].begin,
                                     .st_size = made_functions[i].end - made_functions[i].begin};
    }
    return symbols;
}

static bool write_all(int64_t file, const void *bytes, uint64_t n, uint64_t at) {
    while (n) {
        const int64_t done = kernel(SYS_pwrite64, (uint64_t)file, (uint64_t)bytes, n, at, 0, 0);
        if (done <= 0) {
            return false;
        }
        bytes = (const uint8_t *)bytes + done;
        n -= (uint64_t)done;
        at += (uint64_t)done;
    }
    return true;
}

/* Under the name that its content has. It is as old as can be: it does not change. */
static bool write_file(const uint8_t *code, uint64_t n, char *path, size_t room) {
    char unfinished[4200];
    uint64_t identity[2];
    FileHead head;
    identity_of_content(code, n, identity);
    size_t length = text_add(path, 0, room, arena_text(process.arena->folder_name));
    length = text_add(path, length, room, "/made-2-"); /* 2: of what FileHead is like */
    length = text_add_number(path, length, room, identity[0], 16, 16);
    length = text_add_number(path, length, room, identity[1], 16, 16);
    const int64_t there = call_open(path, O_RDONLY);
    if (there >= 0) {
        call_close(there);
        return true;
    }
    length = text_add(unfinished, 0, sizeof unfinished, path);
    length = text_add(unfinished, length, sizeof unfinished, "-");
    text_add_number(unfinished, length, sizeof unfinished, (uint64_t)process.pid, 10, 1);
    const int64_t file = call_open(unfinished, O_WRONLY | O_CREAT | O_TRUNC);
    if (file < 0) {
        return false;
    }
    const uint64_t long_ago[4] = {0};
    fill_head(&head, n);
    const bool is_written = write_all(file, &head, sizeof head, 0)
        && write_all(file, code, n, CODE_AT)
        && write_all(file, symbols_of_all(), (1 + n_made_functions) * sizeof(Elf64_Sym),
                     SYMBOLS_AT(n))
        && !kernel(SYS_utimensat, (uint64_t)file, 0, (uint64_t)long_ago, 0, 0, 0);
    call_close(file);
    if (!is_written || kernel(SYS_rename, (uint64_t)unfinished, (uint64_t)path, 0, 0, 0, 0)) {
        kernel(SYS_unlink, (uint64_t)unfinished, 0, 0, 0, 0, 0);
        return false;
    }
    return true;
}

/* ---- sealed and opened ---- */

static bool changes_too_often(uint64_t address) {
    for (uint64_t i = 0; i < n_places; i++) {
        if (places[i].address == address) {
            return ++places[i].seals > MOST_SEALS;
        }
    }
    if (n_places == MOST_PLACES) {
        return true;
    }
    places[n_places].address = address;
    places[n_places++].seals = 1;
    return false;
}

static void sealed(uint64_t from, uint64_t bytes, bool stays_writable) {
    static char path[4096];
    const uint8_t *code = (const uint8_t *)from;
    if (from & 4095 || bytes < LEAST_BYTES || bytes > MOST_BYTES || loaded_at(from)
        || !is_anonymous(from, from + bytes)) {
        return;
    }
    while (bytes > LEAST_BYTES && !code[bytes - 1]) {
        bytes--;
    }
    if (!made_find_functions(code, bytes, stays_writable) || changes_too_often(from)
        || !write_file(code, bytes, path, sizeof path)) {
        return;
    }
    module_made(path, from - CODE_AT);
}

/* Whether nothing remains of a module where [from, to) is gone. */
static bool is_all(const Loaded *module, uint64_t from, uint64_t to) {
    return from <= module->bias + module->lowest && to >= module->bias + module->highest;
}

static bool touches(const Loaded *module, uint64_t from, uint64_t to) {
    return module->is_there && module->code && from < module->bias + module->highest
        && to > module->bias + module->lowest;
}

static bool touches_any(uint64_t from, uint64_t to) {
    const uint64_t n = __atomic_load_n(&n_loaded, __ATOMIC_ACQUIRE);
    for (uint64_t i = 0; i < n; i++) {
        if (touches(&loaded[i], from, to)) {
            return true;
        }
    }
    return false;
}

/* Who unmaps all of a library is its loader. */
static void opened(uint64_t from, uint64_t to, bool is_gone) {
    for (uint64_t i = 0; i < n_loaded; i++) {
        Loaded *module = &loaded[i];
        if (!touches(module, from, to)) {
            continue;
        }
        if (!module->map) {
            module_unmade(module, is_gone && is_all(module, from, to));
        } else if (!is_gone || !is_all(module, from, to)) {
            copy_leave(module, from, to);
        }
    }
}

/* What a call does to memory. */
typedef struct {
    uint64_t from, to;
    bool changes, removes, seals;
} Change;

static Change change_of(const Frame *frame) {
    Change change = {frame->rdi, frame->rdi + ((frame->rsi + 4095) & ~UINT64_C(4095)), 0, 0, 0};
    switch (frame->rax) {
    case SYS_mprotect: change.seals = frame->rdx & PROT_EXEC; /* fall through */
    case SYS_pkey_mprotect: change.changes = frame->rdx & PROT_WRITE; break;
    case SYS_mmap: change.changes = change.removes = frame->r10 & MAP_FIXED; break;
    case SYS_munmap: change.changes = change.removes = true; break;
    default: change.changes = true; /* mremap */
    }
    return change;
}

/* The program is about to change what memory is for. */
void made_changes(const Thread *thread, const Frame *frame) {
    const Change change = change_of(frame);
    const bool moves_there = frame->rax == SYS_mremap && frame->r10 & MREMAP_FIXED;
    const bool seals = change.seals && process.arena->options & OPTION_JIT;
    const bool opens = (change.changes && touches_any(change.from, change.to))
        || (moves_there && touches_any(frame->r8, frame->r8 + frame->rdx));
    if (is_quiet || !(opens || seals)
        || (uint64_t)kernel(SYS_gettid, 0, 0, 0, 0, 0, 0) != thread->tid) {
        return;
    }
    const Signals before = signals_block();
    if (lock_take(&modules_lock)) {
        if (opens) {
            opened(change.from, change.to, change.removes);
        }
        if (opens && moves_there) {
            opened(frame->r8, frame->r8 + frame->rdx, true);
        }
        if (seals && (!(frame->rdx & PROT_WRITE) || writes_once(frame))) {
            sealed(change.from, change.to - change.from, frame->rdx & PROT_WRITE);
        }
        lock_release(&modules_lock);
    }
    signals_restore(before);
}
