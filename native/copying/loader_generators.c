/* SPDX-License-Identifier: Apache-2.0 */
/* Who makes code that stays writable, and never writes there again: oneDNN. Others may change
 * theirs at any time, and nobody tells of it. It may be a part of any library, so it is known by
 * the names of its classes. */
#include "loader.h"

#include <elf.h>

static const char classes[] = "4dnnl4impl3cpu3x64"; /* dnnl::impl::cpu::x64, as C++ writes it */

enum { UNKNOWN, WRITES_ONCE, WRITES_AGAIN };

static bool has_classes(const char *text, uint64_t n) {
    const uint64_t length = sizeof classes - 1;
    for (uint64_t i = 0; i + length <= n; i++) {
        if (text[i] == classes[0] && text[i + 1] == classes[1] && text[i + 2] == classes[2]
            && !memcmp(text + i, classes, length)) {
            return true;
        }
    }
    return false;
}

/* In what nobody writes; names come early in it. */
static bool is_onednn(const Loaded *module) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(module->bias + module->lowest);
    char magic[SELFMAG];
    if (!read_program((uint64_t)header, magic, sizeof magic) || memcmp(magic, ELFMAG, SELFMAG)) {
        return false;
    }
    const Elf64_Phdr *segments = (const Elf64_Phdr *)((const uint8_t *)header + header->e_phoff);
    for (unsigned i = 0; header->e_phoff <= 4096 && i < header->e_phnum && i < 32; i++) {
        if (segments[i].p_type == PT_LOAD && !(segments[i].p_flags & PF_W)
            && has_classes((const char *)(module->bias + segments[i].p_vaddr),
                           segments[i].p_filesz)) {
            return true;
        }
    }
    return false;
}

bool writes_once(const Frame *frame) {
    uint64_t caller;
    const uint64_t stack = (uint64_t)(frame + 1) + BELOW_STACK;
    if (!read_program(stack, &caller, sizeof caller)) { /* of the C library's mprotect */
        return false;
    }
    Loaded *module = (Loaded *)loaded_with_copy_at(caller);
    module = module ? module : (Loaded *)loaded_at(caller);
    if (!module || !module->map) {
        return false;
    }
    if (module->writes == UNKNOWN) {
        module->writes = is_onednn(module) ? WRITES_ONCE : WRITES_AGAIN;
    }
    return module->writes == WRITES_ONCE;
}
