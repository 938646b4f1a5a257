/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the program makes at run time and then seals: what was writable becomes executable.
 * It may stay writable (xbyak's does), since who changes a function writes its first bytes too, and
 * so the jump to the copy.
 *
 * It is written into a file like a module's, and copied as modules are. Only what is sure is:
 * memory that no file is behind, and in it functions that call nothing but each other and jump
 * nowhere else, so nobody unwinds through them. Where there is something else behind the first
 * function, as the tables of oneDNN's kernels, only that is believed to be one: no byte is changed
 * that is not code. Before the program writes there again or unmaps it, its bytes are put back.
 * The copy remains: somebody may still be in it. */
#include "loader.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "identity.h"
#include "instruction.h"

#define LEAST_BYTES 16u
#define MOST_BYTES (UINT64_C(1) << 22)
#define MOST_SEALS 4u /* of one place: who changes code all the time would wait for copies */
#define MOST_PLACES 1024u
#define MOST_FUNCTIONS 512u
#define NOWHERE UINT64_MAX
#define CODE_AT 4096u /* in the file, and its vaddr */

static uint64_t starts[MOST_BYTES / 64 + 1]; /* bit n: an instruction begins at byte n */
static uint64_t n_made;
static struct {
    uint64_t address, seals;
} places[MOST_PLACES];
static uint64_t n_places;

/* ---- what the code is ---- */

static bool is_start(uint64_t at) {
    return starts[at >> 6] >> (at & 63) & 1;
}

/* How functions begin, and constants do not: ENDBR64, PUSH, SUB RSP, MOV, LEA, LDTILECFG. */
static bool begins_function(const uint8_t *code) {
    static const uint8_t endbr[] = {0xF3, 0x0F, 0x1E, 0xFA}, tiles[] = {0xC4, 0xE2, 0x78, 0x49};
    const uint8_t *push = code + (code[0] == 0x41);
    const bool is_wide = (code[0] & 0xF8) == 0x48;
    return (push[0] & 0xF8) == 0x50 || !memcmp(code, endbr, 4) || !memcmp(code, tiles, 4)
        || (code[0] == 0x48 && (code[1] == 0x83 || code[1] == 0x81) && code[2] == 0xEC)
        || (is_wide && (code[1] == 0x89 || code[1] == 0x8B || code[1] == 0x8D));
}

/* Code from `begin` to `end`; closed: nothing but other closed functions is called from it, so
   nobody unwinds through it. */
typedef struct {
    uint64_t begin, end;
    bool is_closed;
} MadeFunction;

static MadeFunction functions[MOST_FUNCTIONS];
static uint64_t n_functions;

/* From a function to the beginning of another. */
typedef struct {
    uint64_t from, target;
} MadeCall;

/* Where flow goes from an instruction that does not only go on. */
typedef struct {
    const uint8_t *code;
    uint64_t n;
    MadeFunction *function;
    Array waiting; /* uint64_t */
    Array *calls;
} Following;

static bool add_number(Array *array, uint64_t number) {
    uint64_t *added = array_add(array, 1);
    if (added) {
        *added = number;
    }
    return added != NULL;
}

static bool add_call(Following *f, uint64_t target) {
    MadeCall *call = array_add(f->calls, 1);
    if (call) {
        *call = (MadeCall){(uint64_t)(f->function - functions), target};
    }
    return call != NULL;
}

/* False: it is not sure where it goes. */
static bool follow_flow(Following *f, const Instruction *x) {
    const bool is_inside = x->target >= f->function->begin && x->target < f->n;
    switch (x->flow) {
    case FLOW_CONDITIONAL:
    case FLOW_LOOP: return is_inside && add_number(&f->waiting, x->target);
    case FLOW_JUMP: return is_inside ? add_number(&f->waiting, x->target) : add_call(f, x->target);
    case FLOW_CALL: return add_call(f, x->target);
    case FLOW_INDIRECT_CALL: f->function->is_closed = false; return true;
    case FLOW_NEXT:
    case FLOW_RETURN:
    case FLOW_STOP: return true;
    default: return false;
    }
}

static bool goes_on(const Instruction *x) {
    return x->flow != FLOW_RETURN && x->flow != FLOW_JUMP && x->flow != FLOW_STOP;
}

/* Follow code from `at` to where it does not go on, or has been before. */
static bool follow_path(Following *f, uint64_t at, bool *returns) {
    for (bool more = true; more && at < f->n && !is_start(at);) {
        Instruction x;
        if (!instruction_decode(f->code + at, f->n - at, at, &x)
            || (!f->code[at] && !f->code[at + 1]) || !follow_flow(f, &x)) {
            return false;
        }
        starts[at >> 6] |= UINT64_C(1) << (at & 63);
        if (x.what == WHAT_SYSCALL || x.what == WHAT_GS || x.segment == 0x65) {
            f->function->is_closed = false;
        }
        *returns |= x.flow == FLOW_RETURN || x.flow == FLOW_JUMP;
        at += x.length;
        f->function->end = at > f->function->end ? at : f->function->end;
        more = goes_on(&x);
        if (more && at >= f->n) {
            return false;
        }
    }
    return true;
}

/* Mark what is reached from the beginning of a function; false: it is not sure that it is one. */
static bool follow(const uint8_t *code, uint64_t n, MadeFunction *function, Array *calls) {
    Following f = {code, n, function, {0}, calls};
    bool returns = false;
    array_begin(&f.waiting, sizeof(uint64_t));
    bool is_sure = add_number(&f.waiting, function->begin);
    while (is_sure && f.waiting.n) {
        is_sure = follow_path(&f, ((const uint64_t *)f.waiting.items)[--f.waiting.n], &returns);
    }
    array_end(&f.waiting);
    return is_sure && returns;
}

/* Where the next function begins: behind what compilers fill up with. */
static uint64_t behind_padding(const uint8_t *code, uint64_t n, uint64_t at) {
    while (at < n && at & 15) {
        Instruction x;
        const bool is_trap = code[at] == 0xCC || !code[at];
        if (!is_trap && (!instruction_decode(code + at, n - at, at, &x) || x.what != WHAT_NOP)) {
            return NOWHERE;
        }
        at += is_trap ? 1 : x.length;
    }
    return at;
}

static void forget(const MadeFunction *function) {
    for (uint64_t at = function->begin; at < function->end; at++) {
        starts[at >> 6] &= ~(UINT64_C(1) << (at & 63));
    }
}

static bool is_closed_at(uint64_t begin) {
    for (uint64_t i = 0; i < n_functions; i++) {
        if (functions[i].begin == begin) {
            return functions[i].is_closed;
        }
    }
    return false;
}

/* Who calls what is not closed is not closed. */
static void settle(const Array *calls) {
    const MadeCall *call = (const MadeCall *)calls->items;
    for (bool again = true; again;) {
        again = false;
        for (uint64_t i = 0; i < calls->n; i++) {
            if (functions[call[i].from].is_closed && !is_closed_at(call[i].target)) {
                functions[call[i].from].is_closed = false;
                again = true;
            }
        }
    }
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n_functions; i++) {
        if (functions[i].is_closed) {
            functions[kept++] = functions[i];
        } else {
            forget(&functions[i]);
        }
    }
    n_functions = kept;
}

/* Find functions, of which only the first may be followed by something else than the next. */
static bool find_functions(const uint8_t *code, uint64_t n) {
    Array calls;
    uint64_t at = 0;
    n_functions = 0;
    memset(starts, 0, (n / 64 + 1) * 8);
    array_begin(&calls, sizeof(MadeCall));
    while (at < n && n_functions < MOST_FUNCTIONS) {
        MadeFunction *function = &functions[n_functions];
        *function = (MadeFunction){.begin = at, .end = at, .is_closed = true};
        if (!follow(code, n, function, &calls)) {
            forget(function);
            break;
        }
        n_functions++;
        at = behind_padding(code, n, function->end);
    }
    if (at < n || at == NOWHERE) { /* tables, or what is not known */
        for (uint64_t i = 1; i < n_functions; i++) {
            functions[i].is_closed = false;
        }
        functions[0].is_closed &= n_functions && begins_function(code);
    }
    settle(&calls);
    array_end(&calls);
    return n_functions;
}

/* Whether all that would be patched begins an instruction of it. */
bool made_allows(const CopyHeader *copy) {
    const Anchor *anchors =
        (const Anchor *)((const uint8_t *)copy + copy->sections[SECTION_ANCHORS].at);
    for (uint64_t i = 0; i < copy->sections[SECTION_ANCHORS].n; i++) {
        const uint64_t at = anchors[i].address - CODE_AT;
        if (at >= MOST_BYTES || !is_start(at)) {
            return false;
        }
    }
    return true;
}

/* ---- where it is ---- */

static uint64_t read_hexadecimal(const char **text) {
    uint64_t value = 0;
    for (;; (*text)++) {
        const char c = **text;
        if (c >= '0' && c <= '9') {
            value = value << 4 | (uint64_t)(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        } else {
            return value;
        }
    }
}

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
    const char *line = (const char *)maps.items;
    while (line && *line && from < to) {
        const uint64_t begin = read_hexadecimal(&line);
        line++;
        const uint64_t end = read_hexadecimal(&line);
        if (begin <= from && from < end) {
            if (!is_anonymous_line(line + 1)) {
                break;
            }
            from = end;
        }
        line = text_find(line, "\n");
        line = line ? line + 1 : NULL;
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
                   .e_entry = CODE_AT + functions[0].begin, .e_phoff = offsetof(FileHead, segment),
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
                      .sh_offset = SYMBOLS_AT(n), .sh_size = (1 + n_functions) * sizeof(Elf64_Sym),
                      .sh_link = 2, .sh_info = 1, .sh_addralign = 8,
                      .sh_entsize = sizeof(Elf64_Sym)}},
    };
    memcpy(head->names, names, sizeof names);
}

static const Elf64_Sym *symbols_of_all(void) {
    static Elf64_Sym symbols[1 + MOST_FUNCTIONS];
    for (uint64_t i = 0; i < n_functions; i++) {
        symbols[1 + i] = (Elf64_Sym){.st_name = 23, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                     .st_shndx = 1, .st_value = CODE_AT + functions[i].begin,
                                     .st_size = functions[i].end - functions[i].begin};
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
    length = text_add(path, length, room, "/made-1-"); /* 1: of what FileHead is like */
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
        && write_all(file, symbols_of_all(), (1 + n_functions) * sizeof(Elf64_Sym), SYMBOLS_AT(n))
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

static void sealed(uint64_t from, uint64_t bytes) {
    static char path[4096];
    const uint8_t *code = (const uint8_t *)from;
    if (from & 4095 || bytes < LEAST_BYTES || bytes > MOST_BYTES || loaded_at(from)
        || !is_anonymous(from, from + bytes)) {
        return;
    }
    while (bytes > LEAST_BYTES && !code[bytes - 1]) {
        bytes--;
    }
    if (!find_functions(code, bytes) || changes_too_often(from)
        || !write_file(code, bytes, path, sizeof path)) {
        return;
    }
    n_made += module_made(path, from - CODE_AT);
}

static void opened(uint64_t from, uint64_t to) {
    for (uint64_t i = 0; n_made && i < n_loaded; i++) {
        Loaded *module = &loaded[i];
        if (module->is_there && !module->map && module->code
            && from < module->bias + module->highest && to > module->bias + module->lowest) {
            module_unmade(module);
            n_made--;
        }
    }
}

/* The program is about to change what memory is for. */
void made_changes(const Thread *thread, const Frame *frame) {
    const uint64_t call = frame->rax, from = frame->rdi;
    const uint64_t to = from + ((frame->rsi + 4095) & ~UINT64_C(4095));
    const bool seals = call == SYS_mprotect && (frame->rdx & PROT_EXEC);
    const bool is_elsewhere = call == SYS_mmap && !(frame->r10 & MAP_FIXED);
    if (is_quiet || is_elsewhere || !(process.arena->options & OPTION_JIT) || (!seals && !n_made)
        || (uint64_t)kernel(SYS_gettid, 0, 0, 0, 0, 0, 0) != thread->tid) {
        return;
    }
    const Signals before = signals_block();
    if (lock_take(&modules_lock)) {
        if (seals) { /* or it remains executable, and threads may be in it */
            sealed(from, to - from);
        } else {
            opened(from, to);
        }
        lock_release(&modules_lock);
    }
    signals_restore(before);
}
