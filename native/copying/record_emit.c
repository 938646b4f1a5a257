/* SPDX-License-Identifier: Apache-2.0 */
/* Emits what was planned for a block: its own word and addresses, group by group. */
#include "record.h"

#define RECORD_HEAD_BYTES 192u /* with its stub, behind the function */
#define RECORD_WORD_BYTES 112u

uint32_t record_most_bytes(const Emitter *e, const Instruction *x) {
    NewAccess accesses[MOST_ACCESSES];
    return RECORD_WORD_BYTES * list_accesses(e->analysis->module, x, accesses);
}

uint32_t record_head_bytes(void) {
    return RECORD_HEAD_BYTES;
}

/* Two registers to work with, saved if they are in use. */
typedef struct {
    uint8_t index, address;
    bool saves_index, saves_address;
    int32_t shift; /* of rsp */
} Tools;

static uint8_t choose(uint32_t live, uint16_t used, uint8_t other, bool *saves) {
    const uint32_t taken = live | (other < 16 ? LIVE_REGISTER(other) : 0);
    const uint8_t scratch = find_scratch(taken);
    *saves = scratch == NO_SCRATCH;
    for (uint8_t r = 0; *saves && r < 16; r++) {
        if (r != 4 && r != 12 && r != other && !(used >> r & 1)) {
            return r;
        }
    }
    return scratch;
}

static void push(Emitter *e, uint8_t r) {
    if (r >= 8) {
        put1(e, 0x41);
    }
    put1(e, 0x50 | (r & 7));
}

static void pop(Emitter *e, uint8_t r) {
    if (r >= 8) {
        put1(e, 0x41);
    }
    put1(e, 0x58 | (r & 7));
}

static Tools take_tools(Emitter *e, uint32_t live, uint16_t used) {
    Tools tools = {0};
    tools.index = choose(live, used, NO_REGISTER, &tools.saves_index);
    tools.address = choose(live, used, tools.index, &tools.saves_address);
    if (tools.saves_index || tools.saves_address) {
        PUT(e, 0x48, 0x8D, 0x64, 0x24, 0x80);
        tools.shift = 128;
    }
    if (tools.saves_index) {
        push(e, tools.index);
        tools.shift += 8;
    }
    if (tools.saves_address) {
        push(e, tools.address);
        tools.shift += 8;
    }
    return tools;
}

static void give_tools(Emitter *e, const Tools *tools) {
    if (tools->saves_address) {
        pop(e, tools->address);
    }
    if (tools->saves_index) {
        pop(e, tools->index);
    }
    if (tools->shift) {
        PUT(e, 0x48, 0x8D, 0xA4, 0x24, 0x80, 0, 0, 0);
    }
}

static uint16_t used_by(const Instruction *x, const Note *note) {
    return bit_of(x->base) | bit_of(x->index) | bit_of(note->access.r);
}

static void emit_note(Emitter *e, const Instruction *x, const Note *note, const Tools *tools) {
    const NewAccess *access = &note->access;
    const uint32_t left = e->record_words - note->word;
    const int32_t shift = note->shift + tools->shift;
    const int32_t add = access->displacement + (x->has_memory && x->base == 4 ? shift : 0);
    switch (access->kind) {
    case NOTE_OPERAND:
        put_address(e, tools->address, x, add, true);
        break;
    case NOTE_GATHER:
        put_vector(e, tools->index, x, left - 1);
        put_mask(e, tools->address, x, x->elements, x->memory_bytes);
        put_word(e, tools->index, tools->address, left - 9);
        put_address(e, tools->address, x, add, false);
        break;
    case NOTE_MASKED:
        put_mask(e, tools->address, x, (access->shape & 63u) + 1, access->bytes);
        put_word(e, tools->index, tools->address, left - 1);
        put_address(e, tools->address, x, add, true);
        break;
    case NOTE_TILE:
        if (x->index < 16) {
            put_word(e, tools->index, x->index, left - 1);
        }
        put_address(e, tools->address, x, add, false);
        break;
    case NOTE_STACK:
        put_base(e, tools->address, access->r,
                 access->displacement + (access->r == 4 ? shift : 0));
        break;
    default:
        put_word(e, tools->index, access->r, left);
        return;
    }
    put_word(e, tools->index, tools->address, left);
}

/* A tile's rows without an index register lie on each other: the word is 0. */
static void emit_group(Emitter *e, const Block *block, uint32_t k, uint32_t counter) {
    const Instruction *list = &e->analysis->list[block->first];
    const Note *notes = (const Note *)e->notes.items;
    uint16_t used = 0;
    const size_t first = e->next_note;
    size_t end = first;
    for (; end < e->notes.n && notes[end].at == k; end++) {
        used |= used_by(&list[notes[end].k], &notes[end]);
    }
    if (k > 0 && end == first) {
        return;
    }
    const Tools tools = take_tools(e, live_before(e, block, k), used);
    put_index(e, 0x8B, tools.index);
    if (k == 0) { /* the index first: a signal's handler goes on behind this block */
        put_advance(e, tools.index, e->record_words + 1);
        put_index(e, 0x89, tools.index);
        put_block_word(e, tools.index, counter, e->record_words + 1);
    }
    for (size_t i = first; i < end; i++) {
        emit_note(e, &list[notes[i].k], &notes[i], &tools);
    }
    e->next_note = end;
    give_tools(e, &tools);
}

void record_before(Emitter *e, const Block *block, uint32_t k, uint32_t counter) {
    emit_group(e, block, k, counter);
}

/* Where string instructions leave their pointers. */
void record_after(Emitter *e, const Block *block, uint32_t k) {
    const Note *notes = (const Note *)e->notes.items;
    if (e->analysis->list[block->first + k].what != WHAT_REPEATED) {
        return;
    }
    for (size_t i = 0; i < e->next_note; i++) {
        if (notes[i].k == k && notes[i].access.kind == NOTE_POINTER) {
            const Tools tools =
                take_tools(e, live_before(e, block, k + 1) | LIVE_REGISTER(6) | LIVE_REGISTER(7),
                           bit_of(6) | bit_of(7));
            put_index(e, 0x8B, tools.index);
            put_word(e, tools.index, notes[i].access.r, e->record_words - notes[i].word - 1);
            give_tools(e, &tools);
        }
    }
}

/* Where a block begins in the counting copy: there a burst ends. */
uint64_t counting_head(const Emitter *e, uint32_t block) {
    return e->counting[e->graph.first_index + e->graph.blocks[block].first].at;
}

/* Out of the way: the ring is handed over, and the block goes on. */
void record_stubs(Emitter *e) {
    const RingStub *stubs = (const RingStub *)e->stubs.items;
    for (size_t i = 0; i < e->stubs.n; i++) {
        const uint32_t distance = (uint32_t)e->n - (stubs[i].at + 4);
        memcpy(e->code + stubs[i].at, &distance, 4);
        put_hook_call(e, HOOK_RING_FULL);
        if (e->counting) { /* it is full still where the burst is over */
            put_ring_compare(e);
            PUT(e, 0x0F, 0x85);
            put_inward(e, counting_head(e, stubs[i].block));
        }
        put1(e, 0xE9);
        put_inward(e, stubs[i].at + 4);
    }
    e->stubs.n = 0;
}
