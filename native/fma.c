/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fused multiply-add at the speed of the hardware, and with its results.
 *
 * Valgrind up to 3.19 computes every lane of a fused multiply-add in software, by a call for
 * each. Here the lanes of one instruction are gathered into a single call, which executes the
 * hardware's instruction. Later Valgrinds, which know that CPUs have FMA
 * (VEX_HWCAPS_AMD64_FMA3), compile it into the hardware's instruction themselves.
 *
 * What VEX gets wrong is put right: it negates results where the hardware negates the product
 * and the addend (zeros and NaNs then have another sign), and clears what a scalar instruction
 * leaves as it is in the lower half of its destination. Not put right: VEX has then forgotten what
 * a vector instruction of this kind wrote there, if both are in the same block.
 */
#include "fma.h"

#if !defined(HARDWARE_FMA) || defined(VEX_HWCAPS_AMD64_FMA3)

IRSB *with_fused_lanes(IRSB *block) {
    return block;
}

#else

#include <stddef.h>

#include "libvex_guest_amd64.h"
#include "opcode.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"

#define MOST_LANES 8
#define MOST_OPERANDS 3
#define MOST_HALVES 2      /* of 128 bits */
#define MOST_STATEMENTS 128 /* of one instruction */
#define HALF_BYTES 16
#define REGISTER_BYTES 32

/* These two take the place of libvex's own: an archive's member is linked only where a symbol
 * is still missing. They compute the lanes of what is not understood below. */
VG_REGPARM(3)
void h_generic_calc_MAddF64(Double *result, Double *x, Double *y, Double *z) {
    *result = __builtin_fma(*x, *y, *z);
}

VG_REGPARM(3)
void h_generic_calc_MAddF32(Float *result, Float *x, Float *y, Float *z) {
    *result = __builtin_fmaf(*x, *y, *z);
}

/* ---- the calls: +-(x * y) +- z by lane, the result in place of x ---- */

typedef Double F64x2 __attribute__((vector_size(HALF_BYTES)));
typedef Float F32x4 __attribute__((vector_size(HALF_BYTES)));

/* Written, and read, in halves of 128 bits: a CPU forwards a store to a load of the same width
 * at once, and several stores to one wider load only after a long wait. */
static union {
    F64x2 f64[MOST_OPERANDS][MOST_HALVES];
    F32x4 f32[MOST_OPERANDS][MOST_HALVES];
} operands;

static void *operands_at = &operands;

typedef enum {
    ADDED,
    SUBTRACTED,
    SUBTRACTED_IN_EVEN_LANES,
    SUBTRACTED_IN_ODD_LANES,
    ADDENDS
} Addend;

/* Of several NaNs the hardware takes that of the first operand in the order x, y, z: which is which
 * must not be left to a compiler. */
#define FUSE(instruction, x, y, z) __asm__(instruction " %2, %1, %0" : "+x"(x) : "x"(z), "xm"(y))

#define CALL(name, member, instruction, n_halves)                                                 \
    static void name(void) {                                                                      \
        for (UInt half = 0; half < n_halves; half++) {                                            \
            FUSE(instruction, operands.member[0][half], operands.member[1][half],                 \
                 operands.member[2][half]);                                                       \
        }                                                                                         \
    }
#define CALLS_OF(name, member, type, n)                                                           \
    CALL(name##_add_##n, member, "vfmadd132" type, n)                                             \
    CALL(name##_sub_##n, member, "vfmsub132" type, n)                                             \
    CALL(name##_addsub_##n, member, "vfmaddsub132" type, n)                                       \
    CALL(name##_subadd_##n, member, "vfmsubadd132" type, n)                                       \
    CALL(name##_nadd_##n, member, "vfnmadd132" type, n)                                           \
    CALL(name##_nsub_##n, member, "vfnmsub132" type, n)
/* No instruction negates the product of a sum that alternates. */
#define NAMES_OF(name, n)                                                                         \
    {{name##_add_##n, name##_sub_##n, name##_addsub_##n, name##_subadd_##n},                      \
     {name##_nadd_##n, name##_nsub_##n, NULL, NULL}}
#define CALLS(name, member, type)                                                                 \
    CALLS_OF(name, member, type, 1)                                                               \
    CALLS_OF(name, member, type, 2)                                                               \
    static void (*const name[MOST_HALVES][2][ADDENDS])(void) = {NAMES_OF(name, 1),                \
                                                                NAMES_OF(name, 2)};

CALLS(fuse_f64, f64, "pd")
CALLS(fuse_f32, f32, "ps")

/* Of scalar instructions, whose operands are passed as bits. */
typedef union {
    ULong bits;
    Double f64;
    Float f32;
} Scalar;

#define SCALAR(name, member, instruction)                                                         \
    static ULong name(ULong x, ULong y, ULong z) {                                                \
        Scalar result = {.bits = x};                                                              \
        const Scalar factor = {.bits = y}, addend = {.bits = z};                                  \
        FUSE(instruction, result.member, factor.member, addend.member);                           \
        return result.bits;                                                                       \
    }
#define SCALARS(name, member, type)                                                               \
    SCALAR(name##_add, member, "vfmadd132" type)                                                  \
    SCALAR(name##_sub, member, "vfmsub132" type)                                                  \
    SCALAR(name##_nadd, member, "vfnmadd132" type)                                                \
    SCALAR(name##_nsub, member, "vfnmsub132" type)                                                \
    static ULong (*const name[2][2])(ULong, ULong, ULong) = {{name##_add, name##_sub},            \
                                                             {name##_nadd, name##_nsub}};

SCALARS(fuse_scalar_f64, f64, "sd")
SCALARS(fuse_scalar_f32, f32, "ss")

/* ---- what is known of temporaries ---- */

/* A temporary that is a lane of a vector. */
typedef struct {
    IRTemp vector; /* IRTemp_INVALID: it is none, as far as is known */
    UInt lane;
} Lane;

/* One operand, half by half. */
typedef struct {
    IRTemp lanes[MOST_LANES]; /* before negation */
} OperandLanes;

/* The statements of one instruction, parted. */
typedef struct {
    IRSB *out;
    IRType type; /* of a lane */
    UInt n_lanes;
    IRTemp results[MOST_LANES];
    OperandLanes operands[MOST_OPERANDS];
    Bool product_negated;
    Addend addend;
    IRStmt *early[MOST_STATEMENTS]; /* what the lanes may depend on */
    IRStmt *late[MOST_STATEMENTS];  /* what depends on them, and what changes the state */
    UInt n_early, n_late;
    /* By temporary: */
    UChar *is_late;      /* in this instruction */
    IRStmt **defined_by; /* in this instruction; NULL: elsewhere */
    Lane *lane_of;
    UInt n_temporaries;  /* of the block as it came in: others are made here */
} Group;

static UInt lanes_per_half(const Group *group) {
    return HALF_BYTES / sizeofIRType(group->type);
}

static IRTemp assigned(Group *group, IRType type, IRExpr *value) {
    IRTemp temporary = newIRTemp(group->out->tyenv, type);
    addStmtToIRSB(group->out, IRStmt_WrTmp(temporary, value));
    return temporary;
}

/* ---- parting the statements of an instruction ---- */

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

static Bool is_fused(const IRStmt *statement) {
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

/* ---- reading whole halves ---- */

/* The base of an address that is a sum, or the address itself, and what is added. */
static const IRExpr *base_of(const Group *group, const IRExpr *address, ULong *added) {
    *added = 0;
    const IRStmt *by = address->tag == Iex_RdTmp ? group->defined_by[address->Iex.RdTmp.tmp] : NULL;
    const IRExpr *sum = by ? by->Ist.WrTmp.data : NULL;
    if (sum && sum->tag == Iex_Binop && sum->Iex.Binop.op == Iop_Add64 &&
        sum->Iex.Binop.arg1->tag == Iex_RdTmp && sum->Iex.Binop.arg2->tag == Iex_Const) {
        *added = sum->Iex.Binop.arg2->Iex.Const.con->Ico.U64;
        return sum->Iex.Binop.arg1;
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

/* Defines a lane from its vector; removed again by VEX where nothing uses it. */
static void extract_lane(Group *group, IRTemp lane, IRTemp vector, UInt place) {
    const UInt per_word = group->type == Ity_F64 ? 1 : 2;
    const IROp take_word = place < per_word ? Iop_V128to64 : Iop_V128HIto64;
    IRTemp word = assigned(group, Ity_I64, IRExpr_Unop(take_word, IRExpr_RdTmp(vector)));
    IRExpr *value;
    if (group->type == Ity_F64) {
        value = IRExpr_Unop(Iop_ReinterpI64asF64, IRExpr_RdTmp(word));
    } else {
        const IROp take_half = place % 2 ? Iop_64HIto32 : Iop_64to32;
        IRTemp bits = assigned(group, Ity_I32, IRExpr_Unop(take_half, IRExpr_RdTmp(word)));
        value = IRExpr_Unop(Iop_ReinterpI32asF32, IRExpr_RdTmp(bits));
    }
    addStmtToIRSB(group->out, IRStmt_WrTmp(lane, value));
    group->lane_of[lane] = (Lane){.vector = vector, .lane = place};
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

/* Emits what the lanes depend on, reading halves at once where that is possible. */
static void emit_early(Group *group) {
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
        IRTemp vector = assigned(group, Ity_V128, whole(group->early[i]->Ist.WrTmp.data));
        for (UInt place = 0; place < lanes_per_half(group); place++) {
            extract_lane(group, lanes[place], vector, place);
        }
    }
}

/* ---- the call ---- */

static IRExpr *operand_address(Group *group, IRTemp base, UInt bytes) {
    IRExpr *offset = IRExpr_Const(IRConst_U64(bytes));
    return IRExpr_RdTmp(
        assigned(group, Ity_I64, IRExpr_Binop(Iop_Add64, IRExpr_RdTmp(base), offset)));
}

/* The vector of which these are the lanes in their order, or IRTemp_INVALID. */
static IRTemp vector_of(const Group *group, const IRTemp *lanes) {
    const IRTemp vector = group->lane_of[lanes[0]].vector;
    for (UInt i = 0; i < lanes_per_half(group); i++) {
        const Lane *lane = &group->lane_of[lanes[i]];
        if (lane->vector != vector || lane->lane != i) {
            return IRTemp_INVALID;
        }
    }
    return vector;
}

static void store_half(Group *group, IRTemp base, UInt at, const IRTemp *lanes) {
    const IRTemp vector = vector_of(group, lanes);
    if (vector != IRTemp_INVALID) {
        IRExpr *to = operand_address(group, base, at);
        addStmtToIRSB(group->out, IRStmt_Store(Iend_LE, to, IRExpr_RdTmp(vector)));
        return;
    }
    for (UInt i = 0; i < lanes_per_half(group); i++) {
        IRExpr *to = operand_address(group, base, at + i * sizeofIRType(group->type));
        addStmtToIRSB(group->out, IRStmt_Store(Iend_LE, to, IRExpr_RdTmp(lanes[i])));
    }
}

static void *call_for(const Group *group) {
    const UInt halves = group->n_lanes / lanes_per_half(group);
    return group->type == Ity_F64 ? fuse_f64[halves - 1][group->product_negated][group->addend]
                                  : fuse_f32[halves - 1][group->product_negated][group->addend];
}

static void emit_call(Group *group) {
    IRSB *out = group->out;
    /* Loaded and not a constant, so that it stays in a register. Its address is a temporary as
     * all are that are made here: by that the accesses are known not to be the program's. */
    IRExpr *where = IRExpr_Const(IRConst_U64((HWord)&operands_at));
    where = IRExpr_RdTmp(assigned(group, Ity_I64, where));
    IRTemp base = assigned(group, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, where));
    for (UInt operand = 0; operand < MOST_OPERANDS; operand++) {
        for (UInt i = 0; i < group->n_lanes; i += lanes_per_half(group)) {
            const UInt half = i / lanes_per_half(group);
            store_half(group, base, HALF_BYTES * (MOST_HALVES * operand + half),
                       &group->operands[operand].lanes[i]);
        }
    }
    addStmtToIRSB(out, IRStmt_Dirty(unsafeIRDirty_0_N(
                           0, "fuse", VG_(fnptr_to_fnentry)(call_for(group)), mkIRExprVec_0())));
    for (UInt i = 0; i < group->n_lanes; i += lanes_per_half(group)) {
        const UInt half = i / lanes_per_half(group);
        IRExpr *from = operand_address(group, base, HALF_BYTES * half);
        IRTemp vector = assigned(group, Ity_V128, IRExpr_Load(Iend_LE, Ity_V128, from));
        for (UInt place = 0; place < lanes_per_half(group); place++) {
            extract_lane(group, group->results[i + place], vector, place);
        }
    }
}

/* ---- scalar instructions ---- */

static IRExpr *bits_of(Group *group, IRTemp scalar) {
    IRExpr *value = IRExpr_RdTmp(scalar);
    if (group->type == Ity_F64) {
        return IRExpr_RdTmp(assigned(group, Ity_I64, IRExpr_Unop(Iop_ReinterpF64asI64, value)));
    }
    IRTemp bits = assigned(group, Ity_I32, IRExpr_Unop(Iop_ReinterpF32asI32, value));
    return IRExpr_RdTmp(assigned(group, Ity_I64, IRExpr_Unop(Iop_32Uto64, IRExpr_RdTmp(bits))));
}

static void emit_scalar_call(Group *group) {
    void *call = group->type == Ity_F64 ? fuse_scalar_f64[group->product_negated][group->addend]
                                        : fuse_scalar_f32[group->product_negated][group->addend];
    IRExpr *of[MOST_OPERANDS];
    for (UInt operand = 0; operand < MOST_OPERANDS; operand++) {
        of[operand] = bits_of(group, group->operands[operand].lanes[0]);
    }
    IRTemp bits =
        assigned(group, Ity_I64,
                 mkIRExprCCall(Ity_I64, 0, "fuse_scalar", VG_(fnptr_to_fnentry)(call),
                               mkIRExprVec_3(of[0], of[1], of[2])));
    IRExpr *result = IRExpr_Unop(Iop_ReinterpI64asF64, IRExpr_RdTmp(bits));
    if (group->type == Ity_F32) {
        IRTemp low = assigned(group, Ity_I32, IRExpr_Unop(Iop_64to32, IRExpr_RdTmp(bits)));
        result = IRExpr_Unop(Iop_ReinterpI32asF32, IRExpr_RdTmp(low));
    }
    addStmtToIRSB(group->out, IRStmt_WrTmp(group->results[0], result));
}

/* Whether a statement clears what a scalar instruction has to leave as it is. */
static Bool clears_rest_of_half(const IRStmt *statement) {
    if (statement->tag != Ist_Put || statement->Ist.Put.data->tag != Iex_Const) {
        return False;
    }
    const Int offset = statement->Ist.Put.offset - offsetof(VexGuestAMD64State, guest_YMM0);
    return offset >= 0 && offset < 16 * REGISTER_BYTES && offset % REGISTER_BYTES < HALF_BYTES;
}

/* ---- writing whole halves ---- */

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

static void emit_late(Group *group) {
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

/* ---- the block ---- */

static Int end_of_instruction(const IRSB *block, Int first) {
    Int end = first + 1;
    while (end < block->stmts_used && block->stmts[end]->tag != Ist_IMark) {
        end++;
    }
    return end;
}

static Bool part_statements(Group *group, const IRSB *block, Int first, Int last) {
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

static void emit_scalar(Group *group) {
    for (UInt i = 0; i < group->n_early; i++) {
        addStmtToIRSB(group->out, group->early[i]);
    }
    emit_scalar_call(group);
    for (UInt i = 0; i < group->n_late; i++) {
        addStmtToIRSB(group->out, group->late[i]);
    }
}

static void emit_vector(Group *group) {
    emit_early(group);
    emit_call(group);
    emit_late(group);
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
