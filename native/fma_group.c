/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts the statements of a fused multiply-add: what its lanes depend on, the lanes with their
 * operands and signs, and what depends on them.
 */
#include "fma_group.h"

#ifdef FMA_BY_CALLS

#include "pub_tool_libcbase.h"

/* ---- early, lanes, late ---- */

static Bool reads_late(const Group *group, const IRExpr *value) {
    switch (value->tag) {
    case Iex_RdTmp:
        return group->is_late[value->Iex.RdTmp.tmp];
    case Iex_Unop:
        return reads_late(group, value->Iex.Unop.arg);
    case Iex_Const:
    case Iex_Get:
        return False;
    case Iex_Load:
        return reads_late(group, value->Iex.Load.addr);
    case Iex_Binop:
        return reads_late(group, value->Iex.Binop.arg1) ||
               reads_late(group, value->Iex.Binop.arg2);
    default:
        return True; /* not looked into: the instruction is left alone */
    }
}

static Bool overlaps_late_put(const Group *group, const IRExpr *get) {
    const Int start = get->Iex.Get.offset;
    const Int end = start + sizeofIRType(get->Iex.Get.ty);
    for (UInt i = 0; i < group->n_late; i++) {
        const IRStmt *put = group->late[i];
        if (put->tag == Ist_Put && put->Ist.Put.offset < end &&
            start < put->Ist.Put.offset +
                        sizeofIRType(typeOfIRExpr(group->out->tyenv, put->Ist.Put.data))) {
            return True;
        }
    }
    return False;
}

Bool is_fused(const IRStmt *statement) {
    if (statement->tag != Ist_WrTmp || statement->Ist.WrTmp.data->tag != Iex_Qop) {
        return False;
    }
    const IROp op = statement->Ist.WrTmp.data->Iex.Qop.details->op;
    return op == Iop_MAddF64 || op == Iop_MAddF32;
}

/* The temporary that this one is a copy of, if it is one. */
static IRTemp original(const Group *group, IRTemp temporary) {
    const IRStmt *by = group->defined_by[temporary];
    while (by && by->Ist.WrTmp.data->tag == Iex_RdTmp) {
        temporary = by->Ist.WrTmp.data->Iex.RdTmp.tmp;
        by = group->defined_by[temporary];
    }
    return temporary;
}

static Bool take_lane(Group *group, const IRStmt *statement) {
    const IRQop *lane = statement->Ist.WrTmp.data->Iex.Qop.details;
    const IRType type = lane->op == Iop_MAddF64 ? Ity_F64 : Ity_F32;
    IRExpr *const values[MOST_OPERANDS] = {lane->arg2, lane->arg3, lane->arg4};
    if (group->n_lanes == MOST_LANES || (group->n_lanes && type != group->type)) {
        return False;
    }
    for (UInt operand = 0; operand < MOST_OPERANDS; operand++) {
        if (values[operand]->tag != Iex_RdTmp || reads_late(group, values[operand])) {
            return False;
        }
        group->operands[operand].lanes[group->n_lanes] =
            original(group, values[operand]->Iex.RdTmp.tmp);
    }
    group->type = type;
    group->results[group->n_lanes++] = statement->Ist.WrTmp.tmp;
    group->is_late[statement->Ist.WrTmp.tmp] = 1;
    return True;
}

static Bool take_value(Group *group, IRStmt *statement) {
    const IRExpr *value = statement->Ist.WrTmp.data;
    if (value->tag == Iex_Get && overlaps_late_put(group, value)) {
        return False;
    }
    if (!reads_late(group, value)) {
        group->early[group->n_early++] = statement;
        group->defined_by[statement->Ist.WrTmp.tmp] = statement;
        return True;
    }
    if (value->tag != Iex_RdTmp && value->tag != Iex_Unop) {
        return False;
    }
    group->is_late[statement->Ist.WrTmp.tmp] = 1;
    group->late[group->n_late++] = statement;
    return True;
}

/* Puts a statement where it may go; False where the order would have to be kept. */
static Bool take_statement(Group *group, IRStmt *statement) {
    if (group->n_early == MOST_STATEMENTS || group->n_late == MOST_STATEMENTS) {
        return False;
    }
    switch (statement->tag) {
    case Ist_NoOp:
        return True;
    case Ist_Put:
        group->late[group->n_late++] = statement;
        return True;
    case Ist_WrTmp:
        return is_fused(statement) ? take_lane(group, statement) : take_value(group, statement);
    default:
        return False;
    }
}

/* ---- signs ---- */

static IROp negation(const Group *group) {
    return group->type == Ity_F64 ? Iop_NegF64 : Iop_NegF32;
}

/* What a statement negates, or IRTemp_INVALID. */
static IRTemp negated_by(const Group *group, const IRStmt *statement) {
    if (!statement || statement->tag != Ist_WrTmp) {
        return IRTemp_INVALID;
    }
    const IRExpr *value = statement->Ist.WrTmp.data;
    return value->tag == Iex_Unop && value->Iex.Unop.op == negation(group) &&
                   value->Iex.Unop.arg->tag == Iex_RdTmp
               ? value->Iex.Unop.arg->Iex.RdTmp.tmp
               : IRTemp_INVALID;
}

/* Looks through the negations of an operand; returns the lanes that were negated, as bits. */
static UInt take_negations(Group *group, OperandLanes *operand) {
    UInt lanes = 0;
    for (UInt lane = 0; lane < group->n_lanes; lane++) {
        const IRTemp inner = negated_by(group, group->defined_by[operand->lanes[lane]]);
        if (inner != IRTemp_INVALID) {
            operand->lanes[lane] = original(group, inner);
            lanes |= 1u << lane;
        }
    }
    return lanes;
}

/* The lane whose result a temporary is, or is a copy of; n_lanes: it is none. */
static UInt lane_of_result(const Group *group, IRTemp temporary) {
    for (UInt i = group->n_late; i-- > 0;) {
        const IRStmt *copy = group->late[i];
        if (copy->tag == Ist_WrTmp && copy->Ist.WrTmp.tmp == temporary &&
            copy->Ist.WrTmp.data->tag == Iex_RdTmp) {
            temporary = copy->Ist.WrTmp.data->Iex.RdTmp.tmp;
        }
    }
    UInt lane = 0;
    while (lane < group->n_lanes && group->results[lane] != temporary) {
        lane++;
    }
    return lane;
}

/* Makes negations of the results copies of them; returns the lanes, as bits. */
static UInt take_negated_results(Group *group) {
    UInt lanes = 0;
    for (UInt i = 0; i < group->n_late; i++) {
        const IRTemp inner = negated_by(group, group->late[i]);
        const UInt lane =
            inner == IRTemp_INVALID ? group->n_lanes : lane_of_result(group, inner);
        if (lane < group->n_lanes) {
            group->late[i] = IRStmt_WrTmp(group->late[i]->Ist.WrTmp.tmp,
                                          IRExpr_RdTmp(group->results[lane]));
            lanes |= 1u << lane;
        }
    }
    return lanes;
}

/* What the instruction does with its product and its addend; False if it is none that is known.
 * To negate a result is to negate both: so the hardware does it. */
static Bool take_signs(Group *group) {
    const UInt all = (1u << group->n_lanes) - 1, even = 0x55 & all, odd = 0xAA & all;
    const UInt results = take_negated_results(group);
    const UInt product = take_negations(group, &group->operands[0]) ^
                         take_negations(group, &group->operands[1]) ^ results;
    const UInt addend = take_negations(group, &group->operands[2]) ^ results;
    group->product_negated = product != 0;
    group->addend = addend == 0     ? ADDED
                    : addend == all ? SUBTRACTED
                    : addend == odd ? SUBTRACTED_IN_ODD_LANES
                                    : SUBTRACTED_IN_EVEN_LANES;
    return (product == 0 || product == all) &&
           (addend == 0 || addend == all || (product == 0 && (addend == even || addend == odd)));
}

/* ---- all of them ---- */

Bool part_statements(Group *group, const IRSB *block, Int first, Int last) {
    group->n_lanes = group->n_early = group->n_late = 0;
    VG_(memset)(group->is_late, 0, group->n_temporaries * sizeof *group->is_late);
    VG_(memset)(group->defined_by, 0, group->n_temporaries * sizeof *group->defined_by);
    for (Int i = first + 1; i <= last; i++) {
        if (!take_statement(group, block->stmts[i])) {
            return False;
        }
    }
    const Bool whole_halves = group->n_lanes && group->n_lanes % lanes_per_half(group) == 0;
    return (whole_halves || group->n_lanes == 1) && take_signs(group);
}

#endif
