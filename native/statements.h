/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The few statements from which code is made that is added to a block. */
#ifndef RIDGEPOINT_STATEMENTS_H
#define RIDGEPOINT_STATEMENTS_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

static inline IRExpr *constant(ULong value) {
    return IRExpr_Const(IRConst_U64(value));
}

static inline IRTemp assigned(IRSB *out, IRType type, IRExpr *value) {
    IRTemp temporary = newIRTemp(out->tyenv, type);
    addStmtToIRSB(out, IRStmt_WrTmp(temporary, value));
    return temporary;
}

static inline IRExpr *assigned_word(IRSB *out, IRExpr *value) {
    return IRExpr_RdTmp(assigned(out, Ity_I64, value));
}

static inline IRExpr *loaded_word(IRSB *out, IRExpr *address) {
    return assigned_word(out, IRExpr_Load(Iend_LE, Ity_I64, address));
}

static inline void store_word(IRSB *out, IRExpr *address, IRExpr *value) {
    addStmtToIRSB(out, IRStmt_Store(Iend_LE, address, value));
}

static inline IRExpr *sum(IRSB *out, IRExpr *a, IRExpr *b) {
    return assigned_word(out, IRExpr_Binop(Iop_Add64, a, b));
}

#endif
