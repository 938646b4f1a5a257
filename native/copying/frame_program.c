/* SPDX-License-Identifier: Apache-2.0 */
#include "frame_program.h"

enum {
    CFA_ADVANCE = 0x40, /* the high two bits, as of the next two */
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xC0,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_1 = 0x02,
    CFA_ADVANCE_2 = 0x03,
    CFA_ADVANCE_4 = 0x04,
    CFA_ADVANCE_8 = 0x1D,
    CFA_DEF_CFA = 0x0C,
    CFA_DEF_CFA_OFFSET = 0x0E,
    CFA_DEF_CFA_EXPRESSION = 0x0F,
};

#define STACK_POINTER 7
#define STUB_BYTES 16

#define HAS_BLOCK 4 /* after its numbers comes a length, and so many bytes */
#define KNOWN 8

/* How many LEB numbers each of them has, and what else. */
static const uint8_t ARGUMENTS[64] = {
    [0x00] = KNOWN,                 /* nop */
    [0x05] = KNOWN | 2,             /* offset_extended */
    [0x06] = KNOWN | 1,             /* restore_extended */
    [0x07] = KNOWN | 1,             /* undefined */
    [0x08] = KNOWN | 1,             /* same_value */
    [0x09] = KNOWN | 2,             /* register */
    [0x0A] = KNOWN,                 /* remember_state */
    [0x0B] = KNOWN,                 /* restore_state */
    [0x0C] = KNOWN | 2,             /* def_cfa */
    [0x0D] = KNOWN | 1,             /* def_cfa_register */
    [0x0E] = KNOWN | 1,             /* def_cfa_offset */
    [0x0F] = KNOWN | HAS_BLOCK,     /* def_cfa_expression */
    [0x10] = KNOWN | 1 | HAS_BLOCK, /* expression */
    [0x11] = KNOWN | 2,             /* offset_extended_sf */
    [0x12] = KNOWN | 2,             /* def_cfa_sf */
    [0x13] = KNOWN | 1,             /* def_cfa_offset_sf */
    [0x14] = KNOWN | 2,             /* val_offset */
    [0x15] = KNOWN | 2,             /* val_offset_sf */
    [0x16] = KNOWN | 1 | HAS_BLOCK, /* val_expression */
    [0x2E] = KNOWN | 1,             /* GNU_args_size */
    [0x2F] = KNOWN | 2,             /* GNU_negative_offset_extended */
};

/* Read one instruction; true if it moves on, which `location` then does. Unknown ones are bad. */
static bool read_instruction(const Module *module, const Cie *cie, Reader *reader,
                             uint64_t *location) {
    const uint8_t code = reader_byte(reader);
    switch (code & 0xC0) {
    case CFA_ADVANCE:
        *location += (code & 63) * cie->code_align;
        return true;
    case CFA_OFFSET:
        reader_uleb(reader);
        return false;
    case CFA_RESTORE:
        return false;
    }
    switch (code) {
    case CFA_SET_LOC:
        *location = reader_pointer(reader, module, cie->code_encoding, 0);
        return true;
    case CFA_ADVANCE_1:
    case CFA_ADVANCE_2:
    case CFA_ADVANCE_4:
        *location += reader_number(reader, 1u << (code - CFA_ADVANCE_1)) * cie->code_align;
        return true;
    case CFA_ADVANCE_8:
        *location += reader_number(reader, 8) * cie->code_align;
        return true;
    }
    const uint8_t arguments = ARGUMENTS[code];
    for (int i = 0; i < (arguments & 3); i++) {
        reader_uleb(reader);
    }
    if (arguments & HAS_BLOCK) {
        reader_bytes(reader, reader_uleb(reader));
    }
    reader->bad |= !(arguments & KNOWN);
    return false;
}

bool frame_program_is_known(const Module *module, const Cie *cie, Reader program, uint64_t start,
                            bool may_move) {
    uint64_t before = start, location = start;
    while (!program.bad && reader_left(&program)) {
        if (read_instruction(module, cie, &program, &location)
            && (!may_move || location < before)) {
            return false;
        }
        before = location;
    }
    return !program.bad;
}

static void emit_advance(Array *code, uint32_t bytes) {
    if (bytes < 64) {
        append_byte(code, (uint8_t)(CFA_ADVANCE | bytes));
    } else if (bytes <= UINT8_MAX) {
        append_byte(code, CFA_ADVANCE_1);
        append_number(code, bytes, 1);
    } else if (bytes <= UINT16_MAX) {
        append_byte(code, CFA_ADVANCE_2);
        append_number(code, bytes, 2);
    } else {
        append_byte(code, CFA_ADVANCE_4);
        append_number(code, bytes, 4);
    }
}

/* Move on to an address of the program, which is at `here` in the copy. */
static bool emit_move(const Placing *placing, uint64_t location, uint32_t *here, Array *code) {
    if (location <= placing->start) {
        return true;
    }
    const uint32_t place = placing_place(placing, location);
    if (place == NO_PLACE || place < *here) {
        return false;
    }
    if (place > *here) {
        emit_advance(code, place - *here);
    }
    *here = place;
    return true;
}

/* Linkers tell for all stubs of calls at once, by the low bits of the address, from which byte on
   they have pushed something: rsp + 8 + (((rip & 15) >= n) << 3). Returns n, or 0: it is another
   expression. */
static unsigned stub_expression(const uint8_t *instruction, size_t n) {
    static const uint8_t LIKE[] = {CFA_DEF_CFA_EXPRESSION, 11, 0x77, 0x08, 0x80, 0x00, 0x3F,
                                   0x1A, 0x30, 0x2A, 0x33, 0x24, 0x22};
    const size_t literal = 8;
    if (n != sizeof LIKE || memcmp(instruction, LIKE, literal)
        || memcmp(instruction + literal + 1, LIKE + literal + 1, n - literal - 1)) {
        return 0;
    }
    const unsigned pushed = instruction[literal] - LIKE[literal];
    return pushed < STUB_BYTES ? pushed : 0;
}

/* The low bits are others in the copy, so there it is said of each stub. */
static bool emit_stubs(const Placing *placing, uint64_t location, unsigned pushed, uint32_t *here,
                       Array *code) {
    for (uint64_t stub = location & -(uint64_t)STUB_BYTES; stub < placing->end;
         stub += STUB_BYTES) {
        if (stub + STUB_BYTES <= placing->start) {
            continue;
        }
        if (!emit_move(placing, stub, here, code)) {
            return false;
        }
        append_byte(code, CFA_DEF_CFA);
        append_byte(code, STACK_POINTER);
        append_byte(code, 8);
        if (stub + pushed < placing->end) {
            if (!emit_move(placing, stub + pushed, here, code)) {
                return false;
            }
            append_byte(code, CFA_DEF_CFA_OFFSET);
            append_byte(code, 16);
        }
    }
    return true;
}

/* Whether nothing but padding is left. */
static bool is_done(const Reader *program) {
    for (const uint8_t *at = program->at; at < program->end; at++) {
        if (*at) {
            return false;
        }
    }
    return true;
}

bool frame_program_emit(const Module *module, const Cie *cie, const Frame *frame,
                        const Placing *placing, Array *code) {
    Reader program = frame->program;
    uint64_t location = frame->start;
    uint32_t here = placing->from;
    while (!program.bad && reader_left(&program)) {
        const uint8_t *instruction = program.at;
        if (read_instruction(module, cie, &program, &location)) {
            if (location >= placing->end) {
                break;
            }
            if (!emit_move(placing, location, &here, code)) {
                return false;
            }
            continue;
        }
        const size_t n = (size_t)(program.at - instruction);
        const unsigned pushed = stub_expression(instruction, n);
        if (pushed) {
            return is_done(&program) && emit_stubs(placing, location, pushed, &here, code);
        }
        append_bytes(code, instruction, n);
    }
    return !program.bad;
}
