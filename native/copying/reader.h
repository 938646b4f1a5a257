/* SPDX-License-Identifier: Apache-2.0 */
/* Reads numbers of bytes that may be damaged: beyond the end everything is 0 and `bad`. */
#ifndef RIDGEPOINT_READER_H
#define RIDGEPOINT_READER_H

#include "module.h"

typedef struct {
    const uint8_t *at, *end;
    uint64_t address; /* vaddr of `end` */
    bool bad;
} Reader;

static inline Reader reader_of(const uint8_t *bytes, size_t n, uint64_t address) {
    return (Reader){.at = bytes, .end = bytes + n, .address = address + n};
}

/* Everything from an address on to the end of its segment; bad if there is nothing. */
static inline Reader reader_at(const Module *module, uint64_t address) {
    size_t n;
    const uint8_t *bytes = module_rest(module, address, &n);
    if (!bytes) {
        return (Reader){.bad = true};
    }
    return reader_of(bytes, n, address);
}

static inline size_t reader_left(const Reader *reader) {
    return (size_t)(reader->end - reader->at);
}

static inline uint64_t reader_address(const Reader *reader) {
    return reader->address - reader_left(reader);
}

static inline const uint8_t *reader_bytes(Reader *reader, uint64_t n) {
    if (reader->bad || n > reader_left(reader)) {
        reader->bad = true;
        reader->at = reader->end;
        return NULL;
    }
    const uint8_t *bytes = reader->at;
    reader->at += n;
    return bytes;
}

/* The next `n` bytes as a reader of their own. */
static inline Reader reader_part(Reader *reader, uint64_t n) {
    const uint64_t address = reader_address(reader);
    const uint8_t *bytes = reader_bytes(reader, n);
    if (!bytes) {
        return (Reader){.bad = true};
    }
    return reader_of(bytes, n, address);
}

/* A number of 1, 2, 4 or 8 bytes. */
static inline uint64_t reader_number(Reader *reader, unsigned n) {
    const uint8_t *bytes = reader_bytes(reader, n);
    uint64_t number = 0;
    for (unsigned i = 0; bytes && i < n; i++) {
        number |= (uint64_t)bytes[i] << 8 * i;
    }
    return number;
}

static inline uint8_t reader_byte(Reader *reader) {
    return (uint8_t)reader_number(reader, 1);
}

static inline uint64_t reader_leb(Reader *reader, bool is_signed) {
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t byte = reader_byte(reader);
        if (shift < 64) {
            number |= (uint64_t)(byte & 127) << shift;
        }
        if (byte & 128) {
            continue;
        }
        if (is_signed && byte & 64 && shift + 7 < 64) {
            number |= ~UINT64_C(0) << (shift + 7);
        }
        return number;
    }
}

static inline uint64_t reader_uleb(Reader *reader) {
    return reader_leb(reader, false);
}

static inline int64_t reader_sleb(Reader *reader) {
    return (int64_t)reader_leb(reader, true);
}

/* Pointers as unwind tables encode them. */
#define POINTER_OMITTED 0xFF
#define POINTER_INDIRECT 0x80
#define POINTER_HOW 0x70
#define POINTER_RELATIVE 0x10 /* to where it is */
#define POINTER_TO_DATA 0x30  /* relative to a table's begin */
#define POINTER_FORM 0x0F
#define POINTER_ABSOLUTE_8 0x00
#define POINTER_RELATIVE_4 0x1B

/* A pointer as it is encoded, with nothing added. */
static inline uint64_t reader_form(Reader *reader, uint8_t encoding) {
    switch (encoding & POINTER_FORM) {
    case 0x1:
        return reader_uleb(reader);
    case 0x9:
        return (uint64_t)reader_sleb(reader);
    case 0x2:
        return reader_number(reader, 2);
    case 0xA:
        return (uint64_t)(int16_t)reader_number(reader, 2);
    case 0x3:
        return reader_number(reader, 4);
    case 0xB:
        return (uint64_t)(int32_t)reader_number(reader, 4);
    case 0x0:
    case 0x4:
    case 0xC:
        return reader_number(reader, 8);
    default:
        reader->bad = true;
        return 0;
    }
}

/* What it points to (of an indirect one, the place that holds the pointer); 0: nothing. `data` is
   what pointers relative to data count from; 0: there are none. */
static inline uint64_t reader_pointer(Reader *reader, const Module *module, uint8_t encoding,
                                      uint64_t data) {
    const uint64_t address = reader_address(reader);
    uint64_t value = reader_form(reader, encoding);
    switch (encoding & POINTER_HOW) {
    case 0:
        if ((encoding & POINTER_FORM) == POINTER_ABSOLUTE_8 && !reader->bad) {
            module_word(module, address, &value);
            reader->bad |= module_import_at(module, address) != NULL;
        }
        return value;
    case POINTER_RELATIVE:
        return value ? value + address : 0;
    case POINTER_TO_DATA:
        reader->bad |= !data;
        return value ? value + data : 0;
    default:
        reader->bad = true;
        return 0;
    }
}

#endif
