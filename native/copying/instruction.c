/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes by table. The prefixes and the bits beside the opcode give a number, the variant; map,
 * opcode and variant give a choice, and ModRM chooses the row in which the rest stands:
 *
 *     opcode_variants[map][opcode] + variant -> variant_choices -> (by ModRM) -> rows
 *
 * Details follow what iced-x86 does for Intel's CPUs in 64-bit mode, since the tests compare with
 * it: 66 before a near branch is ignored, the last of F2 and F3 counts, a REX prefix counts only
 * right before the opcode, FS and GS win over the segment prefixes without meaning. Nothing that
 * iced takes is refused or given another length, MONTMUL of VIA's CPUs excepted; that some control
 * registers do not exist is not known here.
 */
#include "instruction_prefix.h"
#include "instruction_row.h"
#include "instruction_table.h"

#define MOST_BYTES 15u

enum { CHOICE_KIND_SHIFT = 14, CHOICE_NUMBER = (1 << CHOICE_KIND_SHIFT) - 1 };

static uint64_t number_at(const uint8_t *bytes, unsigned n) {
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++) {
        value |= (uint64_t)bytes[i] << 8 * i;
    }
    return value;
}

static int64_t signed_at(const uint8_t *bytes, unsigned n) {
    const unsigned unused = 64 - 8 * n;
    return n ? (int64_t)(number_at(bytes, n) << unused) >> unused : 0;
}

/* ---- the row ---- */

/* NULL: the code ends. Reads ModRM, without what follows it, if there is one. */
static const Row *find_row(Reading *reading) {
    /* 90 is XCHG, as 91 is, where it names another register than RAX. With F3 before it Intel's
     * CPUs pause instead, and AMD's exchange: it is said to do what one of them does. */
    const bool is_exchange = reading->opcode == 0x90 && reading->map == MAP_LEGACY && reading->b;
    const unsigned first = opcode_variants[256u * reading->map + reading->opcode + is_exchange];
    const unsigned choice = variant_choices[first + reading->variant];
    const unsigned number = choice & CHOICE_NUMBER, kind = choice >> CHOICE_KIND_SHIFT;
    if (kind == 0 && !(rows[number].traits & HAS_MODRM)) {
        return &rows[number];
    }
    if (!has(reading, 1)) {
        return NULL;
    }
    const uint8_t modrm = reading->modrm = reading->code[reading->at++];
    const unsigned reg = modrm >> 3 & 7;
    const bool is_register = modrm >= 0xC0;
    switch (kind) {
    case 0:
        return &rows[number];
    case 1:
        return &rows[choices_by_mod[number][is_register]];
    case 2:
        return &rows[choices_by_reg[number][is_register ? 8 + reg : reg]];
    default:
        return &rows[choices_by_all[number][is_register ? modrm - 0xC0u + 8 : reg]];
    }
}

/* ---- the memory operand ---- */

static bool read_sib(Reading *reading, const Row *row, Instruction *out, unsigned mod) {
    if (!has(reading, 1)) {
        return false;
    }
    const uint8_t sib = reading->code[reading->at++];
    const unsigned index = (sib >> 3 & 7) | reading->x << 3;
    out->scale = 1 << (sib >> 6);
    if (row->traits & HAS_VSIB) {
        out->is_vsib = true;
        out->index = index | reading->v2 << 4;
    } else if (index != 4) {
        out->index = index;
    }
    if (mod == 0 && (sib & 7) == 5) {
        out->displacement_bytes = 4;
    } else {
        out->base = (sib & 7) | reading->b << 3;
    }
    return true;
}

static bool read_memory(Reading *reading, const Row *row, Instruction *out) {
    const unsigned mod = reading->modrm >> 6, rm = reading->modrm & 7;
    out->has_memory = true;
    out->scale = 1;
    out->displacement_bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
    if (rm == 4) {
        if (!read_sib(reading, row, out, mod)) {
            return false;
        }
    } else if (row->traits & NEEDS_SIB) {
        return false;
    } else if (mod == 0 && rm == 5) {
        out->is_rip_relative = true;
        out->base = REGISTER_RIP;
        out->displacement_bytes = 4;
    } else {
        out->base = rm | reading->b << 3;
    }
    if (out->displacement_bytes) {
        if (!has(reading, out->displacement_bytes)) {
            return false;
        }
        out->displacement_at = reading->at;
        out->displacement =
            (int32_t)signed_at(reading->code + reading->at, out->displacement_bytes);
        if (out->displacement_bytes == 1) {
            out->displacement *= 1 << row->displacement_shift;
        }
        reading->at += out->displacement_bytes;
    }
    return true;
}

/* An address of 8 bytes (4 with an address-size prefix) and nothing else. */
static bool read_moffs(Reading *reading, Instruction *out) {
    const unsigned bytes = reading->address32 ? 4 : 8;
    if (!has(reading, bytes)) {
        return false;
    }
    out->has_memory = true;
    out->scale = 1;
    out->displacement_at = reading->at;
    out->displacement_bytes = bytes;
    out->target = number_at(reading->code + reading->at, bytes);
    out->displacement = (int32_t)out->target;
    reading->at += bytes;
    return true;
}

static void note_memory(const Row *row, Instruction *out) {
    out->memory_bytes = row->memory_bytes;
    out->memory_access = row->memory_access;
    out->elements = row->elements;
    out->index_bytes = row->index_bytes;
    if (row->traits & ADDRESS_UNREAD) {
        return;
    }
    if (out->base < 16) {
        out->read |= 1u << out->base;
    }
    if (out->index < 16 && !out->is_vsib) {
        out->read |= 1u << out->index;
    }
}

/* ---- registers ---- */

static void note_register(Instruction *out, unsigned role, unsigned number) {
    const unsigned bit = 1u << number;
    out->read |= role & ROLE_READ ? bit : 0;
    out->written |= role & ROLE_WHOLE ? bit : 0;
    out->changed |= role & ROLE_CHANGED ? bit : 0;
}

/* 4 to 7 of a byte without REX are AH, CH, DH and BH. */
static unsigned register_of(const Reading *reading, unsigned number, bool is_byte) {
    return is_byte && !reading->rex_present && number >= 4 ? number - 4 : number;
}

static void note_registers(const Reading *reading, const Row *row, Instruction *out) {
    const uint32_t traits = row->traits;
    const unsigned reg = (reading->modrm >> 3 & 7) | reading->r << 3;
    const unsigned rm = (reading->modrm & 7) | reading->b << 3;
    out->read |= row->read;
    out->written |= row->written;
    out->changed |= row->changed;
    if (row->opcode) {
        const unsigned number = (reading->opcode & 7) | reading->b << 3;
        note_register(out, row->opcode, register_of(reading, number, traits & OPCODE_IS_BYTE));
    }
    if (!(traits & HAS_MODRM)) {
        return;
    }
    unsigned unread = 0;
    if ((traits & SAME_UNREAD) && !out->has_memory && reg == rm) {
        unread = ROLE_READ;
    }
    note_register(out, row->reg & ~unread, register_of(reading, reg, traits & REG_IS_BYTE));
    if (!out->has_memory) {
        note_register(out, row->rm & ~unread, register_of(reading, rm, traits & RM_IS_BYTE));
    }
    note_register(out, row->vvvv, reading->vvvv);
    if (traits & (CHANGES_K | CHANGES_K_PAIR)) {
        out->masks_changed = 1u << (reg & 7);
        if (traits & CHANGES_K_PAIR) {
            out->masks_changed |= 1u << ((reg & 7) ^ 1);
        }
    }
    if (traits & CHANGES_MASK) {
        out->masks_changed |= 1u << reading->mask;
    }
}

/* ---- what is refused ---- */

/* Whether the vector or tile registers differ as they must. */
static bool are_unique(const Reading *reading, const Row *row, const Instruction *out) {
    const unsigned no_register = 255, no_other = 254;
    unsigned other = no_register;
    if (out->is_vsib) {
        other = out->index;
    } else if (!out->has_memory) {
        other = (reading->modrm & 7u) | reading->b << 3;
        other |= out->encoding == ENCODING_EVEX ? reading->x << 4 : 0;
    }
    const unsigned vvvv = row->traits & REFUSES_VVVV ? no_other : out->vvvv;
    return out->reg != other && out->reg != vvvv &&
           (!(row->traits & NEEDS_UNIQUE) || other != vvvv);
}

static bool is_refused(const Reading *reading, const Row *row, const Instruction *out) {
    const uint32_t traits = row->traits;
    uint32_t used = 0;
    used |= reading->r ? REFUSES_R : 0;
    used |= reading->x && !out->has_memory ? REFUSES_X : 0;
    used |= reading->b && !out->has_memory ? REFUSES_B : 0;
    used |= reading->r2 ? REFUSES_R2 : 0;
    used |= reading->v2 ? REFUSES_V2 : 0;
    used |= reading->vvvv ? REFUSES_VVVV : 0;
    used |= reading->vvvv >= 8 ? REFUSES_HIGH_VVVV : 0;
    used |= reading->mask ? REFUSES_MASK : NEEDS_MASK;
    used |= reading->zeroing ? REFUSES_ZEROING : 0;
    used |= reading->lock ? REFUSES_LOCK : 0;
    used |= reading->address32 ? REFUSES_ADDRESS32 : 0;
    used |= out->is_rip_relative ? REFUSES_RIP : 0;
    return (traits & used) || (reading->zeroing && !reading->mask) ||
           ((traits & (NEEDS_UNIQUE | NEEDS_UNIQUE_TARGET)) && !are_unique(reading, row, out));
}

/* ---- the rest ---- */

static bool is_relative(unsigned flow) {
    return flow == FLOW_CONDITIONAL || flow == FLOW_LOOP || flow == FLOW_JUMP ||
           flow == FLOW_CALL || flow == FLOW_XBEGIN;
}

static void note_targets(const Reading *reading, Instruction *out) {
    const uint64_t next = out->address + out->length;
    if (is_relative(out->flow)) {
        out->target =
            next + (uint64_t)signed_at(reading->code + out->immediate_at, out->immediate_bytes);
    } else if (out->is_rip_relative) {
        out->target = next + (uint64_t)(int64_t)out->displacement;
        if (out->is_address32) {
            out->target = (uint32_t)out->target;
        }
    }
    if (out->flow == FLOW_CONDITIONAL) {
        out->condition = reading->opcode & 15;
    }
}

static void note_flags(const Reading *reading, const Row *row, Instruction *out) {
    out->flags_read = row->flags_read;
    out->flags_written = row->flags_written;
    const unsigned counting = reading->w && reading->opcode != 0xC0 ? 63 : 31;
    if ((row->traits & COUNTS_BITS) && !(reading->code[out->immediate_at] & counting)) {
        out->flags_written = 0;
    }
}

static void note_row(const Reading *reading, const Row *row, Instruction *out) {
    out->flow = row->flow;
    out->what = row->what;
    out->is_address32 = reading->address32;
    out->mask = reading->mask;
    out->masked_lanes = reading->mask ? row->masked_lanes : 0;
    out->segment = reading->segment;
    out->implicit_access = row->implicit_access;
    out->implicit_bytes = row->implicit_bytes;
    out->stack_access = row->stack_access;
    out->stack_bytes = row->stack_bytes;
    out->uses_stack = row->stack_access != 0;
}

static bool is_now3d_suffix(uint8_t byte) {
    for (unsigned i = 0; i < sizeof(now3d_suffixes); i++) {
        if (now3d_suffixes[i] == byte) {
            return true;
        }
    }
    return false;
}

/* Immediates, which end the instruction. */
static bool read_immediate(Reading *reading, const Row *row, Instruction *out) {
    if (!has(reading, row->immediate_bytes)) {
        return false;
    }
    out->immediate_at = row->immediate_bytes ? reading->at : 0;
    out->immediate_bytes = row->immediate_bytes;
    reading->at += row->immediate_bytes;
    /* The last byte of an instruction of 3DNow! is its opcode. */
    return !reading->is_now3d || is_now3d_suffix(reading->code[reading->at - 1]);
}

static bool decode(Reading *reading, Instruction *out) {
    if (!instruction_read_opcode(reading, out)) {
        return false;
    }
    const Row *row = find_row(reading);
    if (!row || (row->traits & INVALID)) {
        return false;
    }
    const bool in_memory =
        (row->traits & (HAS_MODRM | IGNORES_MOD)) == HAS_MODRM && reading->modrm < 0xC0;
    if ((in_memory && !read_memory(reading, row, out)) ||
        ((row->traits & HAS_MOFFS) && !read_moffs(reading, out)) ||
        !read_immediate(reading, row, out)) {
        return false;
    }
    out->reg = (reading->modrm >> 3 & 7) | reading->r << 3 | reading->r2 << 4;
    out->vvvv = reading->vvvv | (out->is_vsib ? 0 : reading->v2 << 4);
    if (is_refused(reading, row, out)) {
        return false;
    }
    out->length = reading->at;
    note_row(reading, row, out);
    note_registers(reading, row, out);
    if (out->has_memory) {
        note_memory(row, out);
    }
    note_flags(reading, row, out);
    note_targets(reading, out);
    return true;
}

typedef uint64_t __attribute__((may_alias)) Word;

/* With an initializer gcc makes it one REP STOS, which takes a third of all decoding. */
static void clear(Instruction *out) {
    Word *words = (Word *)out;
    _Static_assert(sizeof(*out) == 8 * sizeof(Word), "all of it is cleared");
    words[0] = words[1] = words[2] = words[3] = 0;
    words[4] = words[5] = words[6] = words[7] = 0;
}

bool instruction_decode(const uint8_t *code, size_t room, uint64_t address, Instruction *out) {
    Reading reading = {.code = code, .room = room < MOST_BYTES ? (unsigned)room : MOST_BYTES};
    clear(out);
    out->address = address;
    out->base = out->index = NO_REGISTER;
    return decode(&reading, out);
}
