/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes the vectors of a fused multiply-add by halves of 128 bits, where VEX has split
 * them into lanes.
 */
#include "fma_group.h"

#ifdef FMA_BY_CALLS

#include "statements.h"

/* ---- lanes of a vector ---- */

void extract_lane(Group *group, IRTemp lane, IRTemp vector, UInt place) {
    const UInt per_word = group->type == Ity_F64 ? 1 : 2;
    const IROp take_word = place < per_word ? Iop_V128to64 : Iop_V128HIto64;
    IRTemp word = assigned(group->out, Ity_I64, IRExpr_Unop(take_word, IRExpr_RdTmp(vector)));
    IRExpr *value;
    if (group->type == Ity_F64) {
        value = IRExpr_Unop(Iop_ReinterpI64asF64, IRExpr_RdTmp(word));
    } else {
        const IROp take_half = place % 2 ? Iop_64HIto32 : Iop_64to32;
        IRTemp bits = assigned(group->out, Ity_I32, IRExpr_Unop(take_half, IRExpr_RdTmp(word)));
        value = IRExpr_Unop(Iop_ReinterpI32asF32, IRExpr_RdTmp(bits));
    }
    addStmtToIRSB(group->out, IRStmt_WrTmp(lane, value));
    group->lane_of[lane] = (Lane){.vector = vector, .lane = place};
}

IRTemp vector_of(const Group *group, const IRTemp *lanes) {
    const IRTemp vector = group->lane_of[lanes[0]].vector;
    for (UInt i = 0; i < lanes_per_half(group); i++) {
        const Lane *lane = &group->lane_of[lanes[i]];
        if (lane->vector != vector || lane->lane != i) {
            return IRTemp_INVALID;
        }
    }
    return vector;
}

/* ---- reading ---- */

/* The base of an address that is a sum, or the address itself, and what is added. */
static const IRExpr *base_of(const Group *group, const IRExpr *address, ULong *added) {
    *added = 0;
    const IRStmt *by = address->tag == Iex_RdTmp ? group->defined_by[address->Iex.RdTmp.tmp] : NULL;
    const IRExpr *value = by ? by->Ist.WrTmp.data : NULL;
    if (value && value->tag == Iex_Binop && value->Iex.Binop.op == Iop_Add64 &&
        value->Iex.Binop.arg1->tag == Iex_RdTmp && value->Iex.Binop.arg2->tag == Iex_Const) {
        *added = value->Iex.Binop.arg2->Iex.Const.con->Ico.U64;
        return value->Iex.Binop.arg1;
    }
    return address;
}

/* Whether the lanes of a half are read one after the other, from registers or memory. */
static Bool is_contiguous(const Group *group, const IRTemp *lanes) {
    const UInt bytes = sizeofIRType(group->type);
    const IRStmt *first = group->defined_by[lanes[0]];
    if (!first) {
        return False;
    }
    const IRExpr *start = first->Ist.WrTmp.data;
    for (UInt i = 1; i < lanes_per_half(group); i++) {
        const IRStmt *by = group->defined_by[lanes[i]];
        const IRExpr *value = by ? by->Ist.WrTmp.data : NULL;
        if (!value || value->tag != start->tag) {
            return False;
        }
        if (value->tag == Iex_Get) {
            if (value->Iex.Get.offset != start->Iex.Get.offset + (Int)(i * bytes)) {
                return False;
            }
            continue;
        }
        if (value->tag != Iex_Load) {
            return False;
        }
        ULong at_start, at;
        const IRExpr *base = base_of(group, start->Iex.Load.addr, &at_start);
        const IRExpr *other = base_of(group, value->Iex.Load.addr, &at);
        if (base->tag != Iex_RdTmp || other->tag != Iex_RdTmp ||
            base->Iex.RdTmp.tmp != other->Iex.RdTmp.tmp || at != at_start + i * bytes) {
            return False;
        }
    }
    return start->tag == Iex_Get || start->tag == Iex_Load;
}

static IRExpr *whole(const IRExpr *first) {
    return first->tag == Iex_Get ? IRExpr_Get(first->Iex.Get.offset, Ity_V128)
                                 : IRExpr_Load(Iend_LE, Ity_V128, first->Iex.Load.addr);
}

/* The half that begins with a temporary and is contiguous; NULL: there is none. */
static const IRTemp *half_that_begins_with(const Group *group, IRTemp lane) {
    for (UInt operand = 0; operand < MOST_OPERANDS; operand++) {
        for (UInt i = 0; i < group->n_lanes; i += lanes_per_half(group)) {
            const IRTemp *lanes = &group->operands[operand].lanes[i];
            if (lanes[0] == lane && is_contiguous(group, lanes)) {
                return lanes;
            }
        }
    }
    return NULL;
}

void emit_early(Group *group) {
    for (UInt i = 0; i < group->n_early; i++) {
        const IRTemp defined = group->early[i]->Ist.WrTmp.tmp;
        if (group->lane_of[defined].vector != IRTemp_INVALID) {
            continue; /* defined with its half */
        }
        const IRTemp *lanes = half_that_begins_with(group, defined);
        if (!lanes) {
            addStmtToIRSB(group->out, group->early[i]);
            continue;
        }
        IRTemp vector = assigned(group->out, Ity_V128, whole(group->early[i]->Ist.WrTmp.data));
        for (UInt place = 0; place < lanes_per_half(group); place++) {
            extract_lane(group, lanes[place], vector, place);
        }
    }
}

/* ---- writing ---- */

/* The place of the late statement that puts a lane of a vector at an offset, or n_late. */
static UInt put_of_lane(const Group *group, IRTemp vector, UInt place, Int offset) {
    UInt i = 0;
    for (; i < group->n_late; i++) {
        const IRStmt *put = group->late[i];
        if (put && put->tag == Ist_Put && put->Ist.Put.offset == offset &&
            put->Ist.Put.data->tag == Iex_RdTmp) {
            const Lane *lane = &group->lane_of[put->Ist.Put.data->Iex.RdTmp.tmp];
            if (lane->vector == vector && lane->lane == place) {
                break;
            }
        }
    }
    return i;
}

/* Puts a half at once where this statement and others put its lanes. */
static Bool put_whole(Group *group, const IRStmt *first) {
    if (first->Ist.Put.data->tag != Iex_RdTmp) {
        return False;
    }
    const Lane *lane = &group->lane_of[first->Ist.Put.data->Iex.RdTmp.tmp];
    if (lane->vector == IRTemp_INVALID || lane->lane != 0) {
        return False;
    }
    const UInt bytes = sizeofIRType(group->type);
    UInt puts[MOST_LANES];
    for (UInt place = 0; place < lanes_per_half(group); place++) {
        puts[place] = put_of_lane(group, lane->vector, place,
                                  first->Ist.Put.offset + (Int)(place * bytes));
        if (puts[place] == group->n_late) {
            return False;
        }
    }
    addStmtToIRSB(group->out, IRStmt_Put(first->Ist.Put.offset, IRExpr_RdTmp(lane->vector)));
    for (UInt place = 0; place < lanes_per_half(group); place++) {
        group->late[puts[place]] = NULL;
    }
    return True;
}

void emit_late(Group *group) {
    for (UInt i = 0; i < group->n_late; i++) {
        const IRStmt *copy = group->late[i];
        if (copy->tag == Ist_WrTmp && copy->Ist.WrTmp.data->tag == Iex_RdTmp) {
            group->lane_of[copy->Ist.WrTmp.tmp] =
                group->lane_of[copy->Ist.WrTmp.data->Iex.RdTmp.tmp];
        }
        if (copy->tag == Ist_WrTmp) {
            addStmtToIRSB(group->out, group->late[i]);
        }
    }
    for (UInt i = 0; i < group->n_late; i++) {
        IRStmt *put = group->late[i];
        if (put && put->tag == Ist_Put && !put_whole(group, put)) {
            addStmtToIRSB(group->out, put);
        }
    }
}

#endif
