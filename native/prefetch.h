/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Software prefetches, which VEX translates into nothing. */
#ifndef RIDGEPOINT_PREFETCH_H
#define RIDGEPOINT_PREFETCH_H

#include "engine.h"
#include "opcode.h"

Bool is_prefetch(Opcode opcode);
AccessKind kind_of_prefetch(Opcode opcode);

/* Computes where a prefetch points; NULL where that is not supported. */
IRExpr *prefetched_address(IRSB *out, const Instruction *instruction);

/* A block that does nothing but have this one translated again, if it holds a prefetch whose
 * registers cannot be read in this translation; else NULL. */
IRSB *translated_again(const IRSB *in, const VexGuestExtents *extents);

#endif
