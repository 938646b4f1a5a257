/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes the addresses of software prefetches from their operands.
 *
 * VEX translates a prefetch into nothing, so that there is no access in its block to look at.
 */
#include "prefetch.h"

#include <stddef.h>

#include "libvex_guest_amd64.h"
#include "statements.h"

/* Of libvex: how far registers are kept up to date within a block that is translated next. */
extern VexControl vex_control;

static VexRegisterUpdates usual_register_updates;

/* ---- kinds ---- */

Bool is_prefetch(Opcode opcode) {
    return opcode >= OPCODE_PREFETCH_T0 && opcode <= OPCODE_PREFETCH_NTA;
}

AccessKind kind_of_prefetch(Opcode opcode) {
    switch (opcode) {
    case OPCODE_PREFETCH_T1:
        return ACCESS_PREFETCH_T1;
    case OPCODE_PREFETCH_T2:
        return ACCESS_PREFETCH_T2;
    case OPCODE_PREFETCH_NTA:
        return ACCESS_PREFETCH_NTA;
    default:
        return ACCESS_PREFETCH_T0;
    }
}

/* ---- addresses ---- */

static Int offset_of_register(unsigned number) {
    static const Int offsets[16] = {
        offsetof(VexGuestAMD64State, guest_RAX), offsetof(VexGuestAMD64State, guest_RCX),
        offsetof(VexGuestAMD64State, guest_RDX), offsetof(VexGuestAMD64State, guest_RBX),
        offsetof(VexGuestAMD64State, guest_RSP), offsetof(VexGuestAMD64State, guest_RBP),
        offsetof(VexGuestAMD64State, guest_RSI), offsetof(VexGuestAMD64State, guest_RDI),
        offsetof(VexGuestAMD64State, guest_R8),  offsetof(VexGuestAMD64State, guest_R9),
        offsetof(VexGuestAMD64State, guest_R10), offsetof(VexGuestAMD64State, guest_R11),
        offsetof(VexGuestAMD64State, guest_R12), offsetof(VexGuestAMD64State, guest_R13),
        offsetof(VexGuestAMD64State, guest_R14), offsetof(VexGuestAMD64State, guest_R15),
    };
    return offsets[number];
}

static IRExpr *register_value(IRSB *out, unsigned number) {
    return assigned_word(out, IRExpr_Get(offset_of_register(number), Ity_I64));
}

IRExpr *prefetched_address(IRSB *out, const Instruction *instruction) {
    Operand operand;
    if (!prefetched_operand(instruction->code, instruction->length, &operand)) {
        return NULL;
    }
    ULong fixed = operand.displacement;
    if (operand.is_rip_relative) {
        fixed += instruction->address + instruction->length;
    }
    IRExpr *address = constant(fixed);
    if (operand.base != NO_REGISTER) {
        address = sum(out, register_value(out, operand.base), address);
    }
    if (operand.index != NO_REGISTER) {
        IRExpr *index = register_value(out, operand.index);
        IRExpr *scale = IRExpr_Const(IRConst_U8(operand.scale));
        index = assigned_word(out, IRExpr_Binop(Iop_Shl64, index, scale));
        address = sum(out, index, address);
    }
    return address;
}

/* ---- registers ---- */

static Bool holds_prefetch(const IRSB *in) {
    for (Int i = 0; i < in->stmts_used; i++) {
        const IRStmt *statement = in->stmts[i];
        if (statement->tag == Ist_IMark &&
            is_prefetch(opcode_of((const UChar *)(Addr)statement->Ist.IMark.addr,
                                  statement->Ist.IMark.len))) {
            return True;
        }
    }
    return False;
}

static IRSB *block_to_discard(const IRSB *in, const VexGuestExtents *extents) {
    IRSB *out = deepCopyIRSBExceptStmts(in);
    const Addr start = extents->base[0];
    addStmtToIRSB(out, IRStmt_Put(offsetof(VexGuestAMD64State, guest_CMSTART), constant(start)));
    addStmtToIRSB(out, IRStmt_Put(offsetof(VexGuestAMD64State, guest_CMLEN), constant(1)));
    out->next = constant(start);
    out->jumpkind = Ijk_InvalICache;
    return out;
}

/* VEX has removed what it writes to registers more often than it must, so the registers of a
 * prefetch cannot be read in the first translation. In the next one VEX keeps them up to date. */
IRSB *translated_again(const IRSB *in, const VexGuestExtents *extents) {
    if (!holds_prefetch(in)) {
        return NULL;
    }
    if (vex_control.iropt_register_updates_default != VexRegUpdAllregsAtEachInsn) {
        usual_register_updates = vex_control.iropt_register_updates_default;
        vex_control.iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
        return block_to_discard(in, extents);
    }
    vex_control.iropt_register_updates_default = usual_register_updates;
    return NULL;
}
