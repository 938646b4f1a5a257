/* SPDX-License-Identifier: Apache-2.0 */
#include "exception_table.h"

#define MOST_ACTIONS 4096 /* of one call site */
#define LONGEST_INSTRUCTION 15
#define PADDED_LEB_BYTES 4 /* of a number that is known later */

/* ---- numbers that are known later ---- */

static void set_padded_leb(Array *code, size_t at, uint64_t number) {
    for (unsigned i = 0; !code->failed && i < PADDED_LEB_BYTES; i++, number >>= 7) {
        code->items[at + i] = (number & 127) | (i + 1 < PADDED_LEB_BYTES ? 128 : 0);
    }
}

/* ---- places ---- */

uint32_t placing_place(const Placing *placing, uint64_t address) {
    if (address < placing->start || address > placing->end) {
        return NO_PLACE;
    }
    const uint64_t last = address + LONGEST_INSTRUCTION;
    for (; address < placing->end && address < last; address++) {
        const uint32_t place = placing->place_of(placing->context, address);
        if (place != NO_PLACE) {
            return place;
        }
    }
    return address == placing->end ? placing->to : NO_PLACE;
}

bool placing_point(const Module *module, uint64_t delta, uint64_t to, uint32_t at, Array *code,
                   Array *outward) {
    const int64_t far = (int64_t)(to - (delta + at));
    uint32_t *noted = array_add(outward, 1);
    if (to < module->lowest || to >= module->highest || far != (int32_t)far || !noted
        || code->failed) {
        return false;
    }
    const int32_t near = (int32_t)far;
    *noted = at;
    memcpy(code->items + at, &near, sizeof near);
    return true;
}

/* ---- reading ---- */

bool exceptions_next(ExceptionTable *table, CallSite *site) {
    Reader *sites = &table->sites;
    if (sites->bad || !reader_left(sites)) {
        return false;
    }
    const uint64_t start = table->start + reader_form(sites, table->site_encoding);
    const uint64_t end = start + reader_form(sites, table->site_encoding);
    const uint64_t pad = reader_form(sites, table->site_encoding);
    *site = (CallSite){start, end, pad ? table->pads + pad : 0, reader_uleb(sites)};
    sites->bad |= start < table->start || end < start || end > table->end
               || (pad && !module_is_code(table->module, site->pad));
    return !sites->bad;
}

/* A filter below 0 is a list of types that may pass: numbers that end with 0. */
static bool follow_specification(ExceptionTable *table, int64_t filter) {
    if (!table->types || filter == INT64_MIN) {
        return false;
    }
    Reader reader = reader_at(table->module, table->types + (uint64_t)(-filter - 1));
    uint64_t type;
    do {
        type = reader_uleb(&reader);
        table->n_types = type > table->n_types ? type : table->n_types;
    } while (type && !reader.bad);
    if (!reader.bad && reader_address(&reader) > table->specifications_end) {
        table->specifications_end = reader_address(&reader);
    }
    return !reader.bad;
}

static bool follow_actions(ExceptionTable *table, uint64_t action) {
    uint64_t at = table->actions + action - 1;
    for (int n = 0; n < MOST_ACTIONS; n++) {
        Reader reader = reader_at(table->module, at);
        const int64_t filter = reader_sleb(&reader);
        const uint64_t next = reader_address(&reader);
        const int64_t step = reader_sleb(&reader);
        if (reader.bad || at < table->actions
            || (filter < 0 && !follow_specification(table, filter))) {
            return false;
        }
        if (filter > 0 && (uint64_t)filter > table->n_types) {
            table->n_types = (uint64_t)filter;
        }
        if (reader_address(&reader) > table->actions_end) {
            table->actions_end = reader_address(&reader);
        }
        if (!step) {
            return true;
        }
        at = next + (uint64_t)step;
    }
    return false;
}

/* Bytes of a type, 0: of no fixed number. */
static unsigned type_bytes(uint8_t encoding) {
    switch (encoding & POINTER_FORM) {
    case 0x0:
    case 0x4:
    case 0xC:
        return 8;
    case 0x3:
    case 0xB:
        return 4;
    case 0x2:
    case 0xA:
        return 2;
    default:
        return 0;
    }
}

/* The tables do not say how long their parts are: whatever the call sites lead to belongs to it. */
static bool measure(ExceptionTable *table) {
    ExceptionTable walk = *table;
    CallSite site;
    uint64_t done_to = table->start;
    while (exceptions_next(&walk, &site)) {
        if (site.start < done_to || (site.action && !follow_actions(table, site.action))) {
            return false;
        }
        done_to = site.end;
    }
    if (walk.sites.bad || (table->n_types && !table->types)) {
        return false;
    }
    const uint64_t size = type_bytes(table->type_encoding);
    return !table->types
        || (size && table->types >= table->actions_end
            && table->n_types <= (table->types - table->actions_end) / size);
}

bool exceptions_read(const Module *module, const Frame *frame, ExceptionTable *table) {
    Reader reader = reader_at(module, frame->lsda);
    *table = (ExceptionTable){.module = module, .start = frame->start, .end = frame->end};
    const uint8_t pads_encoding = reader_byte(&reader);
    table->pads = pads_encoding == POINTER_OMITTED
                    ? frame->start
                    : reader_pointer(&reader, module, pads_encoding, 0);
    table->type_encoding = reader_byte(&reader);
    if (table->type_encoding != POINTER_OMITTED) {
        const uint64_t offset = reader_uleb(&reader);
        table->types = reader_address(&reader) + offset;
        reader.bad |= offset > reader_left(&reader);
    }
    table->site_encoding = reader_byte(&reader);
    table->sites = reader_part(&reader, reader_uleb(&reader));
    table->actions = table->actions_end = reader_address(&reader);
    table->specifications_end = table->types;
    return !reader.bad && !table->sites.bad && measure(table);
}

/* ---- writing ---- */

/* The lowest place of a landing pad, NO_PLACE if there is none; false: one is not in the copy. */
static bool lowest_pad(ExceptionTable table, const Placing *placing, uint32_t *lowest) {
    CallSite site;
    *lowest = NO_PLACE;
    while (exceptions_next(&table, &site)) {
        if (site.pad) {
            const uint32_t place = placing->place_of(placing->context, site.pad);
            if (place == NO_PLACE || !place) {
                return false;
            }
            *lowest = place < *lowest ? place : *lowest;
        }
    }
    return true;
}

static bool emit_sites(ExceptionTable table, const Placing *placing, uint32_t pads, Array *code) {
    CallSite site;
    uint32_t done_to = placing->from;
    while (exceptions_next(&table, &site)) {
        if (site.end <= placing->start || site.start >= placing->end) {
            continue;
        }
        const uint32_t from = site.start < placing->start ? placing->from
                                                          : placing_place(placing, site.start);
        const uint32_t to =
            site.end > placing->end ? placing->to : placing_place(placing, site.end);
        if (from == NO_PLACE || to == NO_PLACE || from < done_to || to < from) {
            return false;
        }
        append_leb(code, from - placing->from, false);
        append_leb(code, to - from, false);
        append_leb(code,
                   site.pad ? placing->place_of(placing->context, site.pad) - pads : 0, false);
        append_leb(code, site.action, false);
        done_to = to;
    }
    return true;
}

static bool emit_types(const ExceptionTable *table, const Placing *placing, Array *code,
                       Array *outward) {
    const unsigned size = type_bytes(table->type_encoding);
    Reader reader = reader_at(table->module, table->types - table->n_types * size);
    append_until(code, 4);
    for (uint64_t i = 0; i < table->n_types; i++) {
        const uint64_t type = reader_pointer(&reader, table->module, table->type_encoding, 0);
        const uint32_t at = (uint32_t)code->n;
        append_number(code, 0, 4);
        if (reader.bad
            || (type
                && !placing_point(table->module, placing->delta, type, at, code, outward))) {
            return false;
        }
    }
    return true;
}

static void emit_part(const Module *module, uint64_t start, uint64_t end, Array *code) {
    const uint8_t *bytes = end > start ? module_bytes(module, start, end - start) : NULL;
    if (bytes) {
        append_bytes(code, bytes, end - start);
    }
}

bool exceptions_emit(ExceptionTable table, const Placing *placing, Array *code, Array *outward) {
    uint32_t pads = placing->from, lowest;
    if (!lowest_pad(table, placing, &lowest)) {
        return false;
    }
    if (lowest > placing->from) {
        append_byte(code, POINTER_OMITTED);
    } else { /* a pad before the function: a distance of 0 would mean that there is none */
        pads = lowest - 1;
        append_byte(code, POINTER_RELATIVE_4);
        append_number(code, pads - code->n, 4);
    }
    const bool has_types = table.type_encoding != POINTER_OMITTED;
    append_byte(code, has_types ? (table.type_encoding & POINTER_INDIRECT) | POINTER_RELATIVE_4
                                : POINTER_OMITTED);
    const size_t types_at = code->n;
    append_number(code, 0, has_types ? PADDED_LEB_BYTES : 0);
    append_byte(code, 0x01); /* sites are ULEB */
    const size_t sites_at = code->n;
    append_number(code, 0, PADDED_LEB_BYTES);
    if (!emit_sites(table, placing, pads, code)) {
        return false;
    }
    set_padded_leb(code, sites_at, code->n - sites_at - PADDED_LEB_BYTES);
    emit_part(table.module, table.actions, table.actions_end, code);
    if (has_types) {
        if (!emit_types(&table, placing, code, outward)) {
            return false;
        }
        set_padded_leb(code, types_at, code->n - types_at - PADDED_LEB_BYTES);
        emit_part(table.module, table.types, table.specifications_end, code);
    }
    return !code->failed;
}
