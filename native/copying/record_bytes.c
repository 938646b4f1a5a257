/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of recording code; none of them changes flags. */
#include "record.h"

#define HOOK_CALL_BYTES 19u
#define UNSPILL_BYTES 9u /* of rcx */
#define ASK_BYTES 11u    /* load and jump */
#define RING_INDEX ((uint32_t)__builtin_offsetof(Bank, ring_index))

static uint8_t rex_of(uint8_t reg, uint8_t index, uint8_t base) {
    return (uint8_t)(0x40 | (reg >= 8 && reg < 16 ? 4 : 0) | (index >= 8 && index < 16 ? 2 : 0)
                     | (base >= 8 && base < 16 ? 1 : 0));
}

/* Where the word that has so many after it, and itself, is, as the index is advanced already. */
static uint32_t ring_displacement(uint32_t words_left) {
    return RING_AT - 8 * words_left;
}

void put_index(Emitter *e, uint8_t op, uint8_t r) {
    PUT(e, 0x65, r >= 8 ? 0x4C : 0x48, op, (uint8_t)(0x04 | (r & 7) << 3), 0x25);
    put4(e, RING_INDEX);
}

void put_word(Emitter *e, uint8_t index, uint8_t r, uint32_t words_left) {
    PUT(e, 0x65, 0x08 | rex_of(r, 0, index), 0x89,
        (uint8_t)(0x80 | (r & 7) << 3 | (index & 7)));
    put4(e, ring_displacement(words_left));
}

void put_block_word(Emitter *e, uint8_t index, uint32_t counter, uint32_t words_left) {
    PUT(e, 0x65, 0x08 | rex_of(0, 0, index), 0xC7, 0x80 | (index & 7));
    put4(e, ring_displacement(words_left));
    put_counter_place(e, counter);
}

void put_advance(Emitter *e, uint8_t index, uint32_t words) {
    PUT(e, 0x08 | rex_of(index, 0, index), 0x8D, (uint8_t)(0x80 | (index & 7) * 9));
    put4(e, 8 * words);
}

static uint8_t scale_bits(uint8_t scale) {
    return scale == 8 ? 0xC0 : scale == 4 ? 0x80 : scale == 2 ? 0x40 : 0;
}

/* lea r, [base + index * scale + displacement], the first two of which may be missing. */
static void put_general_lea(Emitter *e, uint8_t r, uint8_t base, uint8_t index, uint8_t scale,
                            int32_t displacement, bool is_address32) {
    const uint8_t sib_index = index == NO_REGISTER ? 4 : index & 7;
    const bool has_base = base != NO_REGISTER;
    if (is_address32) {
        put1(e, 0x67);
    }
    PUT(e, (is_address32 ? 0 : 0x08) | rex_of(r, index, base), 0x8D,
        (uint8_t)((has_base ? 0x84 : 0x04) | (r & 7) << 3),
        (uint8_t)(scale_bits(scale) | sib_index << 3 | (has_base ? base & 7 : 5)));
    put4(e, (uint32_t)displacement);
}

void put_base(Emitter *e, uint8_t r, uint8_t base, int32_t displacement) {
    put_general_lea(e, r, base, NO_REGISTER, 1, displacement, false);
}

/* mov r, fs:[0]: by the ABI of thread-local storage the address of fs itself. */
static void put_fs(Emitter *e, uint8_t r) {
    PUT(e, 0x64, 0x08 | rex_of(r, 0, 0), 0x8B, (uint8_t)(0x04 | (r & 7) << 3), 0x25);
    put4(e, 0);
}

void put_address(Emitter *e, uint8_t r, const Instruction *x, int32_t displacement,
                 bool with_index) {
    const uint8_t index = with_index && x->index < 16 ? x->index : NO_REGISTER;
    if (x->is_rip_relative) {
        PUT(e, 0x08 | rex_of(r, 0, 0), 0x8D, (uint8_t)(0x05 | (r & 7) << 3));
        put_outward(e, x->target, 0);
    } else if (x->displacement_bytes == 8) {
        PUT(e, 0x08 | rex_of(0, 0, r), (uint8_t)(0xB8 | (r & 7)));
        put4(e, (uint32_t)x->target);
        put4(e, (uint32_t)(x->target >> 32));
    } else if (x->segment == 0x64) {
        put_fs(e, r);
        put_general_lea(e, r, r, index, x->scale, x->displacement + displacement, false);
        if (x->base < 16) {
            put_general_lea(e, r, x->base, r, 1, 0, false);
        }
    } else {
        put_general_lea(e, r, x->base, index, x->scale, x->displacement + displacement,
                        x->is_address32);
    }
}

/* ---- gathers ---- */

/* Store the vector of indices: 16, 32 or 64 bytes of eight words. */
void put_vector(Emitter *e, uint8_t index, const Instruction *x, uint32_t words_left) {
    const unsigned bytes = x->elements * x->index_bytes;
    const uint8_t v = x->index, low = (uint8_t)(0x80 | (v & 7) << 3 | (index & 7));
    put1(e, 0x65);
    if (x->encoding == ENCODING_EVEX) { /* vmovdqu64 */
        const uint8_t length = bytes > 32 ? 0x40 : bytes > 16 ? 0x20 : 0;
        PUT(e, 0x62,
            (uint8_t)((v & 8 ? 0 : 0x80) | 0x40 | (index & 8 ? 0 : 0x20) | (v & 16 ? 0 : 0x10) | 1),
            0xFE, 0x08 | length, 0x7F, low);
    } else { /* vmovdqu */
        PUT(e, 0xC4, (uint8_t)((v & 8 ? 0 : 0x80) | 0x40 | (index & 8 ? 0 : 0x20) | 1),
            bytes > 16 ? 0x7E : 0x7A, 0x7F, low);
    }
    put4(e, ring_displacement(words_left));
}

/* A mask register, or the signs of a vector. */
void put_mask(Emitter *e, uint8_t r, const Instruction *x, uint32_t lanes, uint32_t bytes) {
    const uint8_t high = r >= 8 ? 0 : 0x80;
    if (x->encoding == ENCODING_EVEX) { /* kmovw r32, k; kmovq r64, k, where AVX512BW must be */
        PUT(e, 0xC4, 0x61 | high, lanes > 16 ? 0xFB : 0x78, 0x93,
            (uint8_t)(0xC0 | (r & 7) << 3 | x->mask));
    } else { /* vmovmskps, vmovmskpd */
        const uint8_t wide = lanes * bytes > 16 ? 4 : 0;
        PUT(e, 0xC4, (uint8_t)(0x41 | high | (x->vvvv & 8 ? 0 : 0x20)),
            (uint8_t)(0x78 | wide | (bytes == 8)), 0x50,
            (uint8_t)(0xC0 | (r & 7) << 3 | (x->vvvv & 7)));
    }
}

/* ---- the ring's end ---- */

/* cmp word gs:[ring_index + 2], 0 */
void put_ring_compare(Emitter *e) {
    PUT(e, 0x65, 0x66, 0x83, 0x3C, 0x25);
    put4(e, RING_INDEX + 2);
    put1(e, 0);
}

/* movzx ecx, word gs:[ring_index + 2] */
static void put_ring_load(Emitter *e) {
    PUT(e, 0x65, 0x0F, 0xB7, 0x0C, 0x25);
    put4(e, RING_INDEX + 2);
}

/* Ask whether the ring has less room than any block needs: whether bits 16 and up of its index are
   not all 0. With flags by a compare, and the rest of it out of the way; else by JRCXZ. */
void put_ring_check(Emitter *e, const Block *block) {
    if (!(block->live_in & LIVE_FLAGS)) {
        RingStub *stub = array_add(&e->stubs, 1);
        put_ring_compare(e);
        PUT(e, 0x0F, 0x85);
        if (stub) {
            *stub = (RingStub){(uint32_t)e->n, (uint32_t)(block - e->graph.blocks)};
        }
        put4(e, 0);
        return;
    }
    const bool spills = !(~block->live_in & LIVE_REGISTER(1));
    if (spills) {
        put_spill(e, 1);
    }
    const uint8_t undo = e->counting ? ASK_BYTES + 5 + (spills ? UNSPILL_BYTES : 0) : 0;
    put_ring_load(e);
    PUT(e, 0xE3, HOOK_CALL_BYTES + undo); /* jrcxz over the call */
    put_hook_call(e, HOOK_RING_FULL);
    if (e->counting) { /* it is full still where the burst is over */
        put_ring_load(e);
        PUT(e, 0xE3, undo - ASK_BYTES);
        if (spills) {
            put_unspill(e, 1);
        }
        put1(e, 0xE9);
        put_inward(e, counting_head(e, (uint32_t)(block - e->graph.blocks)));
    }
    if (spills) {
        put_unspill(e, 1);
    }
}
