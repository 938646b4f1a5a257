/* SPDX-License-Identifier: Apache-2.0 */
/* What a block accesses: which words it writes to the ring, and where they are known first.
 *
 * Addresses are noted as early in the block as the registers that they are made of have their
 * values, together with as many others as possible: each group costs a load of the ring's index,
 * and often a register saved and restored. */
#include "record.h"

#define MOST_USED 10

static const uint8_t *code_of(const Module *module, const Instruction *x) {
    return module_bytes(module, x->address, x->length);
}

/* ---- accesses of one instruction ---- */

static uint8_t bits_of(const Instruction *x) {
    return (uint8_t)((x->memory_access & 3) | (x->memory_access & 4 ? ACCESS_NON_TEMPORAL : 0));
}

bool is_tile_access(const Instruction *x) {
    return x->has_memory && x->encoding == ENCODING_VEX && x->memory_access
           && x->memory_bytes == 0;
}

static uint8_t hint_of(const uint8_t *code, const Instruction *x) {
    for (uint8_t i = 0; i + 1 < x->length; i++) {
        if (code[i] == 0x0F) {
            return code[i + 1] == 0x18 ? ((x->reg & 7) == 0 ? HINT_NTA : (x->reg & 7) - 1)
                                       : HINT_T0;
        }
    }
    return HINT_T0;
}

static uint8_t log2_of(uint8_t n) {
    return n >= 8 ? 3 : n >= 4 ? 2 : n >= 2 ? 1 : 0;
}

/* The explicit operand. */
static unsigned list_explicit(const Instruction *x, const uint8_t *code, NewAccess *out) {
    const bool prefetch = x->what == WHAT_PREFETCH;
    bool is_compressed = false;
    if (!x->has_memory || x->segment == 0x65 || (!prefetch && !x->memory_access)
        || x->what == WHAT_LEA || x->what == WHAT_NOP) {
        return 0;
    }
    *out = (NewAccess){.kind = NOTE_OPERAND, .words = 1, .bits = bits_of(x),
                       .bytes = x->memory_bytes};
    if (prefetch) {
        out->bits = ACCESS_PREFETCH;
        out->bytes = 1;
        out->shape = hint_of(code, x);
    } else if (x->is_vsib) {
        out->kind = NOTE_GATHER;
        out->words = 10;
        out->bits |= ACCESS_GATHER;
        out->shape = (uint8_t)((x->elements - 1) | log2_of(x->scale) << 4
                               | (x->index_bytes == 8) << 6);
    } else if (is_tile_access(x)) {
        out->kind = NOTE_TILE;
        out->words = 2;
        out->bits |= ACCESS_TILE;
        out->shape = x->reg & 7;
    } else if (x->what == WHAT_REPEATED) {
        return 0; /* in rsi and rdi */
    } else if ((out->bytes = masked_lane_bytes(x, code, &is_compressed))) {
        out->kind = NOTE_MASKED;
        out->words = 2;
        out->bits |= ACCESS_MASKED;
        out->shape = (uint8_t)((x->memory_bytes / out->bytes - 1) | is_compressed << 7);
    } else {
        out->bytes = x->memory_bytes;
    }
    return 1;
}

/* String instructions: at rsi, at rdi. */
static unsigned list_implicit(const Instruction *x, NewAccess *out) {
    static const struct {
        uint8_t implicit, bits, r;
    } kinds[] = {
        {IMPLICIT_READ_RSI, ACCESS_READ, 6},
        {IMPLICIT_READ_RDI, ACCESS_READ, 7},
        {IMPLICIT_WRITE_RDI, ACCESS_WRITE, 7},
    };
    const bool repeated = x->what == WHAT_REPEATED;
    unsigned n = 0;
    for (int i = 0; i < 3 && !x->is_address32; i++) {
        if (x->implicit_access & kinds[i].implicit) {
            out[n++] = (NewAccess){
                .kind = repeated ? NOTE_POINTER : NOTE_REGISTER,
                .words = repeated ? 2 : 1,
                .bits = kinds[i].bits | (repeated ? ACCESS_REPEATED : 0),
                .bytes = x->implicit_bytes,
                .r = kinds[i].r,
            };
        }
    }
    return n;
}

static bool is_leave(const Instruction *x, const uint8_t *code) {
    return x->stack_access == 1 && x->flow == FLOW_NEXT && code[x->length - 1] == 0xC9;
}

/* What is pushed or popped. */
static unsigned list_stack(const Instruction *x, const uint8_t *code, NewAccess *out) {
    if (!x->uses_stack || !(x->stack_access & 3)) {
        return 0;
    }
    const bool leave = is_leave(x, code);
    *out = (NewAccess){
        .kind = NOTE_STACK,
        .words = 1,
        .bits = x->stack_access & 3,
        .bytes = x->stack_bytes,
        .r = leave ? 5 : 4,
        .displacement = x->stack_access & 2 ? -(int32_t)x->stack_bytes : 0,
    };
    return 1;
}

unsigned list_accesses(const Module *module, const Instruction *x, NewAccess *out) {
    if (!x->has_memory && !x->uses_stack && !x->implicit_access) {
        return 0;
    }
    const uint8_t *code = code_of(module, x);
    unsigned n;
    if (x->uses_stack && x->stack_access == 1) { /* POP to memory reads before it writes */
        n = list_stack(x, code, out);
        n += list_explicit(x, code, out + n);
        if (n == 2 && x->base == 4) {
            out[1].displacement = x->stack_bytes;
        }
    } else {
        n = list_explicit(x, code, out);
        n += list_implicit(x, out + n);
        n += list_stack(x, code, out + n);
    }
    return n;
}

uint32_t record_words(const Module *module, const Instruction *x) {
    NewAccess accesses[MOST_ACCESSES];
    const unsigned n = list_accesses(module, x, accesses);
    uint32_t words = 0;
    for (unsigned i = 0; i < n; i++) {
        words += accesses[i].words;
    }
    return words;
}

/* ---- groups ---- */

/* What has happened since the first instruction of a group. */
typedef struct {
    uint32_t at;
    uint16_t changed; /* registers */
    uint16_t used;    /* by the notes of the group */
    int32_t shift;    /* of rsp, by pushes and pops */
} Group;

static uint16_t registers_of(const Instruction *x, const NewAccess *access) {
    switch (access->kind) {
    case NOTE_OPERAND:
    case NOTE_MASKED:
    case NOTE_TILE:
        return bit_of(x->base) | bit_of(x->index);
    case NOTE_GATHER:
        return bit_of(x->base);
    default:
        return bit_of(access->r);
    }
}

/* Vectors, masks and pointers that move are only right where they are used. */
static bool may_join(const Group *group, const NewAccess *access, uint16_t registers) {
    return access->kind != NOTE_GATHER && access->kind != NOTE_MASKED
           && access->kind != NOTE_POINTER && !(group->changed & registers)
           && count_bits(group->used | registers) <= MOST_USED;
}

static void follow(Group *group, const Instruction *x, const uint8_t *code) {
    const uint16_t rsp = bit_of(4);
    uint16_t changed = x->changed;
    const bool moves = x->uses_stack && x->flow == FLOW_NEXT && x->stack_access != 3
                       && !is_leave(x, code) && code[x->length - 1] != 0x5C /* pop rsp */
                       && code[0] != 0xC8 /* enter */;
    if (moves) {
        group->shift += x->stack_access & 2 ? -(int32_t)x->stack_bytes : (int32_t)x->stack_bytes;
        changed &= (uint16_t)~rsp;
    }
    group->changed |= changed;
}

static void add_note(Emitter *e, const NewAccess *access, uint64_t address, uint32_t k,
                     const Group *group, uint32_t *word) {
    Note *note = array_add(&e->notes, 1);
    Access *row = array_add(&e->copy->sections[SECTION_ACCESSES], 1);
    if (note && row) {
        *note = (Note){.k = k, .at = group->at, .word = *word, .access = *access,
                       .shift = group->shift};
        *row = (Access){
            .instruction = (uint32_t)(address - e->analysis->module->lowest),
            .bytes = access->bytes,
            .bits = access->bits,
            .shape = access->shape,
        };
    }
    *word += access->words;
}

void record_plan(Emitter *e, const Block *block, uint32_t counter) {
    const Instruction *x = &e->analysis->list[block->first];
    Row *row = &((Row *)e->copy->sections[SECTION_ROWS].items)[counter];
    Group group = {0};
    uint32_t words = 0;
    e->notes.n = 0;
    e->next_note = 0;
    row->first_access = (uint32_t)e->copy->sections[SECTION_ACCESSES].n;
    for (uint32_t k = 0; k < block->n; k++) {
        NewAccess accesses[MOST_ACCESSES];
        const unsigned n = list_accesses(e->analysis->module, &x[k], accesses);
        for (unsigned i = 0; i < n; i++) {
            const uint16_t registers = registers_of(&x[k], &accesses[i]);
            if (!may_join(&group, &accesses[i], registers) && group.at != k) {
                group = (Group){.at = k};
            }
            group.used |= registers;
            add_note(e, &accesses[i], x[k].address, k, &group, &words);
        }
        follow(&group, &x[k], code_of(e->analysis->module, &x[k]));
    }
    row->n_accesses = (uint16_t)words;
    e->record_words = words;
}
