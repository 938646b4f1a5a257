/* SPDX-License-Identifier: Apache-2.0 */
/* Finds code that would notice that it runs elsewhere. */
#include "analysis.h"

/* Whether a function takes its return address from the stack and reads there: constants follow the
   calls of it. (vfork takes it too, and puts it back.) */
static bool reads_behind_call(const Analysis *a, uint64_t address) {
    uint8_t r = NO_REGISTER;
    for (int k = 0; k < 8; k++) {
        size_t room;
        const uint8_t *code = module_rest(a->module, address, &room);
        Instruction x;
        if (!code || !instruction_decode(code, room, address, &x)) {
            return false;
        }
        if (r == NO_REGISTER) {
            const bool is_high = code[0] == 0x41;
            if ((code[is_high] & 0xF8) == 0x58 && x.uses_stack) {
                r = (uint8_t)((code[is_high] & 7) | is_high << 3);
            } else if (code[0] == 0x48 && code[1] == 0x8B && (code[2] & 0xC7) == 0x04
                       && code[3] == 0x24) { /* mov r, [rsp] */
                r = code[2] >> 3 & 7;
            } else if (x.what != WHAT_ENDBR) {
                return false;
            }
        } else if ((x.has_memory && x.base == r) || x.flow == FLOW_RETURN) {
            return x.has_memory || code[0] == 0xC3;
        } else if (x.flow != FLOW_NEXT || x.uses_stack || (x.changed >> r & 1)) {
            return false;
        }
        address += x.length;
    }
    return false;
}

/* Code whose own addresses matter, so that a copy of it would behave otherwise. */
bool analysis_reads_own_address(const Analysis *a, size_t i) {
    const Instruction *x = &a->list[i];
    if (x->flow == FLOW_CALL && x->target == x->address + x->length && i + 1 < a->n_list) {
        return true; /* call; pop: where am I? */
    }
    if (x->flow == FLOW_CALL && reads_behind_call(a, x->target)) {
        return true;
    }
    if (x->is_rip_relative && x->is_address32) {
        return true;
    }
    if (x->what == WHAT_SYSCALL && i > 0) {
        /* rt_sigreturn: unwinders, debuggers and the kernel's users know these bytes. */
        static const uint8_t number[] = {0xC7, 0xC0, 15, 0, 0, 0};
        const uint8_t *before = module_bytes(a->module, x->address - 6, 6);
        return before && (!memcmp(before, number, 6)
                          || (before[1] == 0xB8 && !memcmp(before + 2, number + 2, 4)));
    }
    return false;
}
