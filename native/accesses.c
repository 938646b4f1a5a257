/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which accesses to memory the statements of an instruction make. */
#include "block.h"
#include "prefetch.h"
#include "statements.h"

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

void note_accesses(Block *block, const IRStmt *statement) {
    switch (statement->tag) {
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
    default:
        break;
    }
}

void note_prefetch(Block *block) {
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
