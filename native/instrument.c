/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rewrites a block of code so that it counts itself and notes its addresses.
 *
 * A block is cut into segments: stretches that run from beginning to end or not at all. Where
 * no addresses are needed, a segment adds one to its counter. Where they are, it appends a
 * record to the trace, and is counted when that is replayed.
 */
#include "engine.h"

#include <stddef.h>

#include "fma.h"
#include "libvex_guest_amd64.h"
#include "opcode.h"
#include "prefetch.h"
#include "statements.h"

#define MOST_IN_SEGMENT 4096u
#define ROTATION_BYTES 4u

/* An access that may still grow, since VEX splits wide ones. */
typedef struct {
    Bool is_waiting;
    IRExpr *address;
    IRTemp base; /* address = base + offset, where that is known */
    Long offset;
    Access access;
} Waiting;

/* The value of a temporary, as another one plus a constant. */
typedef struct {
    IRTemp base;
    Long offset;
} Sum;

/* The block at hand. */
typedef struct {
    IRSB *out;
    DiEpoch epoch;
    const VexGuestLayout *layout;
    Instruction *instruction;
    Opcode opcode;
    Bool iterates; /* the instruction, which has a REP prefix, is past its check of the count */
    Sum *sums;    /* by temporary of the block as it came in */
    IRTemp n_own; /* temporaries from this one on are the engine's, not the program's */
    Waiting waiting;
    Bool is_open; /* whether there is a segment to add to */
    Segment segment;
    IRTemp record;
    IRConst *record_segment, *record_bytes;   /* known when the segment is complete */
    IRConst *page_address, *counter_offset;
} Block;

static UInt segment_instructions[MOST_IN_SEGMENT];
static Access segment_accesses[MOST_IN_SEGMENT];

/* ---- segments ---- */

static void emit_counter(Block *block) {
    block->page_address = IRConst_U64(0);
    block->counter_offset = IRConst_U64(0);
    IRExpr *page = loaded_word(block->out, IRExpr_Const(block->page_address));
    IRExpr *from = sum(block->out, page, IRExpr_Const(block->counter_offset));
    IRExpr *count = sum(block->out, loaded_word(block->out, from), constant(1));
    store_word(block->out, sum(block->out, page, IRExpr_Const(block->counter_offset)), count);
}

static void emit_record(Block *block) {
    block->record_segment = IRConst_U64(0);
    block->record_bytes = IRConst_U64(0);
    IRExpr *cursor = constant((HWord)&trace_cursor);
    block->record = assigned(block->out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, cursor));
    IRExpr *record = IRExpr_RdTmp(block->record);
    store_word(block->out, record, IRExpr_Const(block->record_segment));
    store_word(block->out, cursor, sum(block->out, record, IRExpr_Const(block->record_bytes)));
}

static void open_segment(Block *block, SegmentRole role) {
    block->segment = (Segment){
        .role = role, .instructions = segment_instructions, .accesses = segment_accesses};
    block->is_open = True;
    if (traced()) {
        emit_record(block);
    } else {
        emit_counter(block);
    }
}

static void flush_waiting(Block *block) {
    Waiting *waiting = &block->waiting;
    if (!waiting->is_waiting) {
        return;
    }
    waiting->is_waiting = False;
    if (!block->is_open) {
        open_segment(block, SEGMENT_PLAIN); /* the rest of an instruction, after an exit in it */
    }
    tl_assert(block->segment.n_accesses < MOST_IN_SEGMENT);
    const UInt place = block->segment.n_accesses++;
    block->segment.accesses[place] = waiting->access;
    IRExpr *slot = sum(block->out, IRExpr_RdTmp(block->record), constant(8 * (1 + place)));
    store_word(block->out, slot, waiting->address);
}

static void close_segment(Block *block) {
    flush_waiting(block);
    if (!block->is_open) {
        return;
    }
    block->is_open = False;
    const Segment *segment = segment_with(&block->segment);
    if (traced()) {
        block->record_segment->Ico.U64 = (HWord)segment;
        block->record_bytes->Ico.U64 = 8 * (1 + segment->n_accesses);
    } else {
        block->page_address->Ico.U64 = (HWord)&counter_pages[segment->index / COUNTERS_PER_PAGE];
        block->counter_offset->Ico.U64 = 8 * (segment->index % COUNTERS_PER_PAGE);
    }
}

static void add_instruction(Block *block) {
    tl_assert(block->segment.n_instructions < MOST_IN_SEGMENT);
    block->segment.instructions[block->segment.n_instructions++] = block->instruction->index;
}

/* ---- accesses ---- */

/* Whether an access continues, or writes back, the one that is waiting. */
static Bool joins(Waiting *waiting, const Access *access, IRTemp base, Long offset) {
    if (!waiting->is_waiting || base == IRTemp_INVALID || waiting->base != base ||
        waiting->access.instruction != access->instruction) {
        return False;
    }
    Access *first = &waiting->access;
    if (first->kind == access->kind && offset == waiting->offset + first->bytes) {
        first->bytes += access->bytes;
        return True;
    }
    if (first->kind == ACCESS_LOAD && access->kind == ACCESS_STORE &&
        offset == waiting->offset && access->bytes == first->bytes) {
        first->kind = ACCESS_STORE; /* read, modify, write */
        return True;
    }
    return False;
}

static void note_access(Block *block, AccessKind kind, IRExpr *address, Int bytes, IRExpr *guard) {
    if (!traced() || bytes <= 0 || !block->instruction) {
        return;
    }
    if (address->tag == Iex_RdTmp && address->Iex.RdTmp.tmp >= block->n_own) {
        return; /* the operands of a call that fma.c makes */
    }
    if (block->opcode == OPCODE_NT_STORE) {
        if (kind == ACCESS_LOAD) {
            return; /* of the bytes that a mask leaves as they are: the hardware reads none */
        }
        kind = ACCESS_NT_STORE;
    }
    const Access access = {
        .instruction = block->instruction->index, .bytes = bytes, .kind = kind};
    IRTemp base = IRTemp_INVALID;
    Long offset = 0;
    if (!guard && address->tag == Iex_RdTmp) {
        base = block->sums[address->Iex.RdTmp.tmp].base;
        offset = block->sums[address->Iex.RdTmp.tmp].offset;
    }
    if (joins(&block->waiting, &access, base, offset)) {
        return;
    }
    flush_waiting(block);
    if (guard) {
        address = assigned_word(block->out, IRExpr_ITE(guard, address, constant(0)));
    }
    block->waiting = (Waiting){.is_waiting = True,
                               .address = address,
                               .base = base,
                               .offset = offset,
                               .access = access};
}

static Int bytes_of(const Block *block, const IRExpr *value) {
    return sizeofIRType(typeOfIRExpr(block->out->tyenv, value));
}

static void note_guarded_load(Block *block, const IRLoadG *load) {
    IRType result, from;
    typeOfIRLoadGOp(load->cvt, &result, &from);
    note_access(block, ACCESS_LOAD, load->addr, sizeofIRType(from), load->guard);
}

static void note_swap(Block *block, const IRCAS *swap) {
    const Int bytes = bytes_of(block, swap->dataLo) * (swap->dataHi ? 2 : 1);
    note_access(block, ACCESS_STORE, swap->addr, bytes, NULL);
}

static void note_helper(Block *block, const IRDirty *helper) {
    if (helper->mFx == Ifx_None) {
        return;
    }
    IRExpr *guard = helper->guard && helper->guard->tag == Iex_RdTmp ? helper->guard : NULL;
    note_access(block, helper->mFx == Ifx_Read ? ACCESS_LOAD : ACCESS_STORE, helper->mAddr,
                helper->mSize, guard);
}

static void note_prefetch(Block *block) {
    IRExpr *address = prefetched_address(block->out, block->instruction);
    if (!address) {
        return;
    }
    flush_waiting(block);
    block->waiting = (Waiting){.is_waiting = True,
                               .address = address,
                               .base = IRTemp_INVALID,
                               .access = {.instruction = block->instruction->index,
                                          .bytes = 1,
                                          .kind = kind_of_prefetch(block->opcode)}};
}

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

static void remember_sum(Block *block, IRTemp temporary, const IRExpr *value) {
    block->sums[temporary] = (Sum){.base = temporary, .offset = 0};
    if (value->tag != Iex_Binop ||
        (value->Iex.Binop.op != Iop_Add64 && value->Iex.Binop.op != Iop_Sub64) ||
        value->Iex.Binop.arg1->tag != Iex_RdTmp || value->Iex.Binop.arg2->tag != Iex_Const) {
        return;
    }
    const Sum *of = &block->sums[value->Iex.Binop.arg1->Iex.RdTmp.tmp];
    const Long added = value->Iex.Binop.arg2->Iex.Const.con->Ico.U64;
    block->sums[temporary] = (Sum){
        .base = of->base,
        .offset = of->offset + (value->Iex.Binop.op == Iop_Add64 ? added : -added)};
}

static void instrument_statement(Block *block, IRStmt *statement) {
    switch (statement->tag) {
    case Ist_NoOp:
        return;
    case Ist_IMark:
        begin_instruction(block, statement->Ist.IMark.addr, statement->Ist.IMark.len);
        break;
    case Ist_WrTmp: {
        const IRExpr *value = statement->Ist.WrTmp.data;
        remember_sum(block, statement->Ist.WrTmp.tmp, value);
        if (value->tag == Iex_Load) {
            note_access(block, ACCESS_LOAD, value->Iex.Load.addr,
                        sizeofIRType(value->Iex.Load.ty), NULL);
        }
        break;
    }
    case Ist_Store:
        note_access(block, ACCESS_STORE, statement->Ist.Store.addr,
                    bytes_of(block, statement->Ist.Store.data), NULL);
        break;
    case Ist_StoreG: {
        const IRStoreG *store = statement->Ist.StoreG.details;
        note_access(block, ACCESS_STORE, store->addr, bytes_of(block, store->data), store->guard);
        break;
    }
    case Ist_LoadG:
        note_guarded_load(block, statement->Ist.LoadG.details);
        break;
    case Ist_CAS:
        note_swap(block, statement->Ist.CAS.details);
        break;
    case Ist_Dirty:
        note_helper(block, statement->Ist.Dirty.details);
        break;
    case Ist_Put:
        pass_put(block, statement->Ist.Put.offset);
        break;
    case Ist_Exit:
        flush_waiting(block);
        break;
    default:
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
