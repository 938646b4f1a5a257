/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the interpreter, other code, or the kernel ran where a thread was interrupted.
 *
 * The C library and its like work for both: there the nearest address on the stack that is code
 * of neither says for whom.
 */
#define _GNU_SOURCE
#include "lines.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define MOST_RANGES 16
#define STACK_WORDS 512

typedef struct {
    uint64_t from, to;
} Range;

static Range interpreter[MOST_RANGES], shared[MOST_RANGES];
static unsigned n_interpreter, n_shared;

static bool holds(const Range *ranges, unsigned n, uint64_t address) {
    for (unsigned i = 0; i < n; i++) {
        if (address >= ranges[i].from && address < ranges[i].to) {
            return true;
        }
    }
    return false;
}

static bool is_shared(const char *path) {
    static const char *const names[] = {"/libc.so", "/libc-", "/ld-linux", "/ld-", "/libm.so",
                                        "/libm-", "/libpthread", "/libridgepoint-", "linux-vdso"};
    const char *last = strrchr(path, '/');
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = names[i];
        if (last ? !strncmp(last, name, strlen(name)) : !strncmp(path, name, strlen(name))) {
            return true;
        }
    }
    return false;
}

static int look(struct dl_phdr_info *module, size_t size, void *evaluator) {
    (void)size;
    bool is_interpreter = false;
    Range code[4];
    unsigned n = 0;
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X && n < 4) {
            const uint64_t from = module->dlpi_addr + part->p_vaddr;
            code[n] = (Range){from, from + part->p_memsz};
            is_interpreter |= holds(&code[n++], 1, (uint64_t)evaluator);
        }
    }
    for (unsigned i = 0; i < n; i++) {
        if (is_interpreter && n_interpreter < MOST_RANGES) {
            interpreter[n_interpreter++] = code[i];
        } else if (!is_interpreter && is_shared(module->dlpi_name) && n_shared < MOST_RANGES) {
            shared[n_shared++] = code[i];
        }
    }
    return 0;
}

void where_begin(void) {
    n_interpreter = n_shared = 0;
    dl_iterate_phdr(look, dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault"));
}

/* Return addresses stand behind calls. */
static bool is_behind_call(uint64_t address) {
    uint8_t code[7];
    if (!read_safely(code, (const void *)(address - 7), sizeof code)) {
        return false;
    }
    return code[2] == 0xe8 || (code[5] == 0xff && (code[6] & 0x38) == 0x10)
        || (code[4] == 0xff && (code[5] & 0x38) == 0x10)
        || (code[1] == 0xff && (code[2] & 0x38) == 0x10)
        || (code[0] == 0xff && (code[1] & 0x38) == 0x10);
}

static Kind caller(uint64_t stack) {
    uint64_t words[STACK_WORDS];
    size_t n = STACK_WORDS;
    while (n && !read_safely(words, (const void *)stack, n * 8)) {
        n /= 2; /* the end of the stack */
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t address = words[i];
        if (address >> 47 || address < 65536 || holds(shared, n_shared, address)) {
            continue;
        }
        if (holds(interpreter, n_interpreter, address)) {
            if (is_behind_call(address)) {
                return IN_INTERPRETER;
            }
        } else if (is_behind_call(address)) {
            return IN_NATIVE; /* readable, and behind a call: code of another library */
        }
    }
    return IN_NATIVE;
}

Kind where(uint64_t address, uint64_t stack) {
    uint8_t before[2];
    if (read_safely(before, (const void *)(address - 2), 2) && before[0] == 0x0f
        && before[1] == 0x05) {
        return IN_SYSTEM; /* it returns from a system call */
    }
    if (holds(interpreter, n_interpreter, address)) {
        return IN_INTERPRETER;
    }
    return holds(shared, n_shared, address) ? caller(stack) : IN_NATIVE;
}
