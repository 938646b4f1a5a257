/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rewrites a block of code so that it counts itself and notes its addresses.
 *
 * A block is cut into segments: stretches that run from beginning to end or not at all. Where
 * no addresses are needed, a segment adds one to its counter. Where they are, it appends a
 * record to the trace, and is counted when that is replayed.
 */
#include "block.h"

#include <stddef.h>

#include "fma.h"
#include "libvex_guest_amd64.h"
#include "prefetch.h"
#include "statements.h"

#define ROTATION_BYTES 4u

/* ---- functions ---- */

static IRExpr *stack_pointer(Block *block) {
    return assigned_word(block->out, IRExpr_Get(block->layout->offset_SP, Ity_I64));
}

static VG_REGPARM(2) void enter_function(UWord name, Addr sp) {
    function_entered(name, sp);
}

static VG_REGPARM(2) void leave_function(Addr sp, Addr to) {
    function_left(sp, to);
}

static void note_function_entry(Block *block, Addr address) {
    const HChar *name;
    if (!options.function || !VG_(get_fnname_if_entry)(block->epoch, address, &name) ||
        !is_selected_function(name)) {
        return;
    }
    close_segment(block);
    IRExpr **arguments =
        mkIRExprVec_2(constant(function_name_id(name)), stack_pointer(block));
    addStmtToIRSB(block->out, IRStmt_Dirty(unsafeIRDirty_0_N(2, "enter_function",
                                                             VG_(fnptr_to_fnentry)(enter_function),
                                                             arguments)));
}

/* At the start of a block: only there may a function have been left. */
static void note_function_left(Block *block, Addr address) {
    IRExpr *limit = loaded_word(block->out, constant((HWord)&function_limit));
    IRExpr *sp = stack_pointer(block);
    IRTemp guard = assigned(block->out, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, limit, sp));
    IRDirty *call =
        unsafeIRDirty_0_N(2, "leave_function", VG_(fnptr_to_fnentry)(leave_function),
                          mkIRExprVec_2(sp, constant(address)));
    call->guard = IRExpr_RdTmp(guard);
    addStmtToIRSB(block->out, IRStmt_Dirty(call));
}

/* ---- the block ---- */

static VG_REGPARM(0) void make_room(void) {
    trace_replay();
}

static void ask_for_room(Block *block) {
    IRExpr *cursor = loaded_word(block->out, constant((HWord)&trace_cursor));
    IRTemp guard = assigned(
        block->out, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, constant((HWord)trace_limit), cursor));
    IRDirty *call = unsafeIRDirty_0_N(0, "make_room", VG_(fnptr_to_fnentry)(make_room),
                                      mkIRExprVec_0());
    call->guard = IRExpr_RdTmp(guard);
    addStmtToIRSB(block->out, IRStmt_Dirty(call));
}

static void begin_instruction(Block *block, Addr address, UInt length);

/* A request to Valgrind is five instructions that VEX takes for one: four rotations of %rdi, which
 * together change nothing, and an exchange of a register with itself. */
static void begin_request(Block *block, Addr address, UInt length) {
    while (length > 0) {
        const UInt part = length < ROTATION_BYTES ? length : ROTATION_BYTES;
        begin_instruction(block, address, part);
        address += part;
        length -= part;
    }
}

static void begin_instruction(Block *block, Addr address, UInt length) {
    if (length == 0) {
        return; /* one that VEX does not know: it raises SIGILL */
    }
    if (length > MAX_INSTRUCTION_BYTES) {
        begin_request(block, address, length);
        return;
    }
    flush_waiting(block);
    if (block->instruction && block->opcode == OPCODE_REP_STRING) {
        close_segment(block);
    }
    note_function_entry(block, address);
    block->instruction = instruction_at(address, length, block->epoch);
    block->opcode = opcode_of(block->instruction->code, length);
    block->iterates = False;
    if (block->opcode == OPCODE_REP_STRING) {
        close_segment(block);
    }
    if (!block->is_open) {
        open_segment(block, SEGMENT_PLAIN);
    }
    add_instruction(block);
    if (block->opcode == OPCODE_DIVISION) {
        /* VEX keeps this up to date for accesses to memory alone: a signal names it. */
        addStmtToIRSB(block->out, IRStmt_Put(block->layout->offset_IP, constant(address)));
    }
    if (traced() && is_prefetch(block->opcode)) {
        note_prefetch(block);
    }
}

static void open_repeated(Block *block, SegmentRole role) {
    close_segment(block);
    open_segment(block, role);
    add_instruction(block);
}

/* An instruction with a REP prefix leaves when its count is 0, then counts down, and so begins an
 * iteration. What it would do first is not there where VEX knows the count. */
static void pass_put(Block *block, Int offset) {
    if (block->instruction && block->opcode == OPCODE_REP_STRING && !block->iterates &&
        offset == offsetof(VexGuestAMD64State, guest_RCX)) {
        open_repeated(block, SEGMENT_ITERATION);
        block->iterates = True;
    }
}

/* After an iteration REPE and REPNE look at the flag: to go on they jump to themselves, or, where
 * VEX has unrolled that loop, they jump out of it else. */
static void pass_flag(Block *block, Addr to) {
    if (to == block->instruction->address) {
        open_repeated(block, SEGMENT_FLAG_END);
        return;
    }
    block->segment.role = SEGMENT_LAST_ITERATION;
    open_repeated(block, SEGMENT_NOT_LAST);
}

/* Called after an exit was added: what follows runs only if it was not taken. */
static void pass_exit(Block *block, const IRStmt *statement) {
    const IRJumpKind kind = statement->Ist.Exit.jk;
    if (kind == Ijk_SigSEGV || kind == Ijk_SigBUS) {
        return; /* a fault, of a misaligned operand: treated like any other fault */
    }
    /* Between the rounds of a loop Valgrind looks whether the code has changed. */
    if (block->iterates && kind != Ijk_InvalICache) {
        pass_flag(block, statement->Ist.Exit.dst->Ico.U64);
    } else {
        close_segment(block);
    }
}

static void instrument_statement(Block *block, IRStmt *statement) {
    switch (statement->tag) {
    case Ist_NoOp:
        return;
    case Ist_IMark:
        begin_instruction(block, statement->Ist.IMark.addr, statement->Ist.IMark.len);
        break;
    case Ist_Put:
        pass_put(block, statement->Ist.Put.offset);
        break;
    case Ist_Exit:
        flush_waiting(block);
        break;
    default:
        note_accesses(block, statement);
        break;
    }
    addStmtToIRSB(block->out, statement);
    if (statement->tag == Ist_Exit) {
        pass_exit(block, statement);
    }
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                 IRType host_word) {
    if (asleep) {
        return with_fused_lanes(in);
    }
    IRSB *again = traced() ? translated_again(in, extents) : NULL;
    if (again) {
        return again;
    }
    const IRTemp n_own = in->tyenv->types_used;
    in = with_fused_lanes(in);
    Block block = {.out = deepCopyIRSBExceptStmts(in),
                   .epoch = VG_(current_DiEpoch)(),
                   .layout = layout,
                   .n_own = n_own};
    block.sums = VG_(malloc)("ridgepoint.sums", in->tyenv->types_used * sizeof *block.sums + 1);
    for (Int i = 0; i < in->tyenv->types_used; i++) {
        block.sums[i] = (Sum){.base = i, .offset = 0};
    }
    Int i = 0;
    for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++) {
        addStmtToIRSB(block.out, in->stmts[i]); /* checks of Valgrind's own */
    }
    if (options.function) {
        note_function_left(&block, extents->base[0]);
    }
    if (traced()) {
        ask_for_room(&block);
    }
    for (; i < in->stmts_used; i++) {
        instrument_statement(&block, in->stmts[i]);
    }
    close_segment(&block);
    VG_(free)(block.sums);
    return block.out;
}
