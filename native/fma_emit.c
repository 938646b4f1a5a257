/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes all lanes of a fused multiply-add by one call. */
#include "fma_group.h"

#ifdef FMA_BY_CALLS

#include "pub_tool_machine.h"
#include "statements.h"

/* ---- vectors ---- */

static void store_half(Group *group, IRExpr *operands, UInt at, const IRTemp *lanes) {
    const IRTemp vector = vector_of(group, lanes);
    if (vector != IRTemp_INVALID) {
        IRExpr *to = sum(group->out, operands, constant(at));
        addStmtToIRSB(group->out, IRStmt_Store(Iend_LE, to, IRExpr_RdTmp(vector)));
        return;
    }
    for (UInt i = 0; i < lanes_per_half(group); i++) {
        IRExpr *to = sum(group->out, operands, constant(at + i * sizeofIRType(group->type)));
        addStmtToIRSB(group->out, IRStmt_Store(Iend_LE, to, IRExpr_RdTmp(lanes[i])));
    }
}

static void emit_call(Group *group) {
    IRSB *out = group->out;
    /* Loaded and not a constant, so that it stays in a register. Its address is a temporary as
     * all are that are made here: by that the accesses are known not to be the program's. */
    IRExpr *operands = loaded_word(out, assigned_word(out, constant((HWord)&fma_operands)));
    for (UInt operand = 0; operand < MOST_OPERANDS; operand++) {
        for (UInt i = 0; i < group->n_lanes; i += lanes_per_half(group)) {
            const UInt half = i / lanes_per_half(group);
            store_half(group, operands, HALF_BYTES * (MOST_HALVES * operand + half),
                       &group->operands[operand].lanes[i]);
        }
    }
    void *call = fma_of_vectors(group->type, group->n_lanes / lanes_per_half(group),
                                group->product_negated, group->addend);
    addStmtToIRSB(out, IRStmt_Dirty(unsafeIRDirty_0_N(
                           0, "fuse", VG_(fnptr_to_fnentry)(call), mkIRExprVec_0())));
    for (UInt i = 0; i < group->n_lanes; i += lanes_per_half(group)) {
        const UInt half = i / lanes_per_half(group);
        IRExpr *from = sum(out, operands, constant(HALF_BYTES * half));
        IRTemp vector = assigned(out, Ity_V128, IRExpr_Load(Iend_LE, Ity_V128, from));
        for (UInt place = 0; place < lanes_per_half(group); place++) {
            extract_lane(group, group->results[i + place], vector, place);
        }
    }
}

void emit_vector(Group *group) {
    emit_early(group);
    emit_call(group);
    emit_late(group);
}

/* ---- scalars ---- */

static IRExpr *bits_of(Group *group, IRTemp scalar) {
    IRExpr *value = IRExpr_RdTmp(scalar);
    if (group->type == Ity_F64) {
        return assigned_word(group->out, IRExpr_Unop(Iop_ReinterpF64asI64, value));
    }
    IRTemp bits = assigned(group->out, Ity_I32, IRExpr_Unop(Iop_ReinterpF32asI32, value));
    return assigned_word(group->out, IRExpr_Unop(Iop_32Uto64, IRExpr_RdTmp(bits)));
}

static void emit_scalar_call(Group *group) {
    IRSB *out = group->out;
    void *call = fma_of_scalars(group->type, group->product_negated, group->addend);
    IRExpr *of[MOST_OPERANDS];
    for (UInt operand = 0; operand < MOST_OPERANDS; operand++) {
        of[operand] = bits_of(group, group->operands[operand].lanes[0]);
    }
    IRExpr *bits = assigned_word(
        out, mkIRExprCCall(Ity_I64, 0, "fuse_scalar", VG_(fnptr_to_fnentry)(call),
                           mkIRExprVec_3(of[0], of[1], of[2])));
    IRExpr *result = IRExpr_Unop(Iop_ReinterpI64asF64, bits);
    if (group->type == Ity_F32) {
        IRTemp low = assigned(out, Ity_I32, IRExpr_Unop(Iop_64to32, bits));
        result = IRExpr_Unop(Iop_ReinterpI32asF32, IRExpr_RdTmp(low));
    }
    addStmtToIRSB(out, IRStmt_WrTmp(group->results[0], result));
}

void emit_scalar(Group *group) {
    for (UInt i = 0; i < group->n_early; i++) {
        addStmtToIRSB(group->out, group->early[i]);
    }
    emit_scalar_call(group);
    for (UInt i = 0; i < group->n_late; i++) {
        addStmtToIRSB(group->out, group->late[i]);
    }
}

#endif
