/* SPDX-License-Identifier: Apache-2.0 */
/* Where counting code changes over to recording: at entries of functions, where calls return to,
 * where exceptions are caught, and at the heads of loops. */
#include "emit.h"

#include <stddef.h>

static const uint8_t compare[] = {0x65, 0x66, 0x83, 0x3C, 0x25}; /* word gs:[slot], with 0 */

/* The displacement of a jump to the recording copy of a block, by its first instruction. */
void add_turn(Emitter *e, uint32_t first) {
    Turn *turn = array_add(&e->turns, 1);
    if (turn) {
        *turn = (Turn){(uint32_t)e->n, e->graph.first_index + first};
    }
    put4(e, 0);
}

static void put_question(Emitter *e, uint32_t first) {
    put_bytes(e, compare, sizeof compare);
    put4(e, (uint32_t)(offsetof(Bank, slots) + 8 * SLOT_TURN));
    PUT(e, 0, 0x0F, 0x85);
    add_turn(e, first);
}

/* Loops that count in registers, which are the innermost, do not ask: that would be what they do
   most. The loader finds them at their heads, where it interrupts them. */
void put_turn(Emitter *e, const Block *block) {
    const uint64_t address = e->analysis->list[block->first].address;
    if (block->loop == NO_INDEX && !(block->live_in & LIVE_FLAGS) && !hook_at(e, address)
        && (block->is_loop_head || is_returned_to(e, block))) {
        put_question(e, block->first);
    }
}

void put_entry_turn(Emitter *e, uint32_t unit) {
    const Block *block = e->graph.blocks;
    const Piece *piece = e->graph.piece;
    if (piece->kind == PIECE_FUNCTION && !(block->live_in & LIVE_FLAGS)
        && !hook_at(e, piece->start)) {
        while ((e->n + TURN_BYTES) & (unit - 1)) {
            put1(e, 0xCC);
        }
        put_question(e, block->first);
    }
}

bool has_entry_turn(const Emitter *e, uint32_t at) {
    return e->kind == COPY_BOTH && at >= HOOKS_BYTES + TURN_BYTES
           && !memcmp(e->code + at - TURN_BYTES, compare, sizeof compare);
}

/* Once all of the recording code is written. */
void resolve_turns(Emitter *e) {
    const Turn *turns = (const Turn *)e->turns.items;
    for (size_t i = 0; i < e->turns.n; i++) {
        const uint32_t distance = e->places[turns[i].index].at - (turns[i].at + 4);
        memcpy(e->code + turns[i].at, &distance, 4);
    }
}
