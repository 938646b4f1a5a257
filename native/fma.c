/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fused multiply-add at the speed of the hardware, and with its results.
 *
 * Valgrind up to 3.19 computes every lane of a fused multiply-add in software, by a call for
 * each. Here the lanes of one instruction are gathered into a single call, which executes the
 * hardware's instruction. Later Valgrinds, which know that CPUs have FMA, execute an instruction
 * of the hardware for each lane: a call is faster for vectors, and takes twice as long for scalars.
 *
 * What VEX gets wrong, up to 3.27 at least, is put right: it negates results where the hardware
 * negates the product and the addend (zeros and NaNs then have another sign), takes another NaN
 * where several operands are NaNs, and up to 3.19 clears what a scalar instruction leaves as it
 * is in the lower half of its destination. Not put right: VEX has then forgotten what a vector
 * instruction of this kind wrote there, if both are in the same block.
 */
#include "fma.h"

#include "fma_group.h"

#ifndef FMA_BY_CALLS

IRSB *with_fused_lanes(IRSB *block) {
    return block;
}

#else

#include <stddef.h>

#include "libvex_guest_amd64.h"
#include "opcode.h"
#include "pub_tool_mallocfree.h"

#define REGISTER_BYTES 32

/* ---- an instruction ---- */

/* Whether a statement clears what a scalar instruction has to leave as it is. */
static Bool clears_rest_of_half(const IRStmt *statement) {
    if (statement->tag != Ist_Put || statement->Ist.Put.data->tag != Iex_Const) {
        return False;
    }
    const Int offset = statement->Ist.Put.offset - offsetof(VexGuestAMD64State, guest_YMM0);
    return offset >= 0 && offset < 16 * REGISTER_BYTES && offset % REGISTER_BYTES < HALF_BYTES;
}

/* Takes out of a block what a scalar instruction should not do. */
static void mend_scalar(IRSB *block, Int first, Int end) {
    const IRStmt *mark = block->stmts[first];
    const UChar *code = (const UChar *)(Addr)mark->Ist.IMark.addr;
    if (opcode_of(code, mark->Ist.IMark.len) != OPCODE_SCALAR_FMA) {
        return;
    }
    for (Int i = first + 1; i < end; i++) {
        if (clears_rest_of_half(block->stmts[i])) {
            block->stmts[i] = IRStmt_NoOp();
        }
    }
}

static void rewrite_instruction(IRSB *block, Int first, Int end, Group *group) {
    mend_scalar(block, first, end);
    Int last = end - 1;
    while (last > first && block->stmts[last]->tag != Ist_Put && !is_fused(block->stmts[last])) {
        last--;
    }
    Bool fused = False;
    for (Int i = first; i < end; i++) {
        fused |= is_fused(block->stmts[i]);
    }
    if (!fused || !part_statements(group, block, first, last)) {
        for (Int i = first; i < end; i++) {
            addStmtToIRSB(group->out, block->stmts[i]);
        }
        return;
    }
    addStmtToIRSB(group->out, block->stmts[first]);
    if (group->n_lanes == 1) {
        emit_scalar(group);
    } else {
        emit_vector(group);
    }
    for (Int i = last + 1; i < end; i++) {
        addStmtToIRSB(group->out, block->stmts[i]);
    }
}

/* ---- the block ---- */

static Int end_of_instruction(const IRSB *block, Int first) {
    Int end = first + 1;
    while (end < block->stmts_used && block->stmts[end]->tag != Ist_IMark) {
        end++;
    }
    return end;
}

static Bool holds_fused(const IRSB *block) {
    for (Int i = 0; i < block->stmts_used; i++) {
        if (is_fused(block->stmts[i])) {
            return True;
        }
    }
    return False;
}

IRSB *with_fused_lanes(IRSB *block) {
    if (!holds_fused(block)) {
        return block;
    }
    const UInt n = block->tyenv->types_used;
    Group group = {.out = deepCopyIRSBExceptStmts(block), .n_temporaries = n};
    group.is_late = VG_(calloc)("ridgepoint.late", n + 1, sizeof *group.is_late);
    group.lane_of = VG_(malloc)("ridgepoint.lanes", (n + 1) * sizeof *group.lane_of);
    group.defined_by = VG_(malloc)("ridgepoint.defined", (n + 1) * sizeof *group.defined_by);
    for (UInt i = 0; i < n; i++) {
        group.lane_of[i] = (Lane){.vector = IRTemp_INVALID};
    }
    Int i = 0;
    for (; i < block->stmts_used && block->stmts[i]->tag != Ist_IMark; i++) {
        addStmtToIRSB(group.out, block->stmts[i]);
    }
    while (i < block->stmts_used) {
        const Int end = end_of_instruction(block, i);
        rewrite_instruction(block, i, end, &group);
        i = end;
    }
    VG_(free)(group.is_late);
    VG_(free)(group.lane_of);
    VG_(free)(group.defined_by);
    return group.out;
}

#endif
