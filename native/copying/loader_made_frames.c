/* SPDX-License-Identifier: Apache-2.0 */
#include "loader_made_frames.h"

#include "append.h"
#include "frame.h"

#define MOST_REGISTERED 16384u
#define MOST_ENTRY_BYTES 65536u

bool read_program(uint64_t address, void *to, uint64_t bytes); /* loader.h */

static MadeFrame registered[MOST_REGISTERED]; /* the last ones; section 0: none */
static uint64_t n_registered;                 /* ever */

static bool is_readable(uint64_t from, uint64_t to) {
    uint8_t byte;
    for (uint64_t at = from; at < to; at = (at | 4095) + 1) {
        if (!read_program(at, &byte, 1)) {
            return false;
        }
    }
    return true;
}

/* Where the entry at an address ends; 0: there is none. Whatever the program registers, it must not
   fault here. */
static uint64_t end_of_entry(uint64_t address) {
    uint32_t bytes;
    return read_program(address, &bytes, 4) && bytes && bytes <= MOST_ENTRY_BYTES
            && is_readable(address, address + 4 + bytes)
        ? address + 4 + bytes
        : 0;
}

/* Whether an entry is that of a function, with one that is common to many before it. */
static bool has_common(uint64_t section, uint64_t address) {
    uint32_t back;
    if (!read_program(address + 4, &back, 4) || !back || back > address + 4 - section) {
        return false;
    }
    const uint64_t end = end_of_entry(address + 4 - back);
    return end && end <= address;
}

/* What an entry says; false: it is not of a function, or of one that has to do with exceptions. */
static bool read_entry(uint64_t section, uint64_t address, Cie *cie, Frame *frame) {
    const uint64_t end = has_common(section, address) ? end_of_entry(address) : 0;
    Segment segment = {.address = section, .bytes = end - section, .known = end - section,
                       .content = (const uint8_t *)section};
    const Module module = {.segments = &segment, .n_segments = 1};
    *cie = (Cie){0};
    return end > section && frame_read(&module, address, cie, frame) && frame->end > frame->start
        && cie->has_augmentation && !cie->is_signal_frame && !cie->personality && !frame->lsda
        && cie->return_register <= UINT8_MAX;
}

void frames_register(uint64_t section) {
    uint64_t end;
    for (uint64_t at = section; (end = end_of_entry(at)); at = end) {
        Cie cie;
        Frame frame;
        if (read_entry(section, at, &cie, &frame)) {
            registered[n_registered++ % MOST_REGISTERED] =
                (MadeFrame){frame.start, frame.end, at, section};
        }
    }
}

static bool is_there(const MadeFrame *one) {
    Cie cie;
    Frame frame;
    return read_entry(one->section, one->entry, &cie, &frame) && frame.start == one->start
        && frame.end == one->end;
}

uint64_t frames_find(uint64_t from, uint64_t to, MadeFrame *found, uint64_t most) {
    const uint64_t known = n_registered < MOST_REGISTERED ? n_registered : MOST_REGISTERED;
    uint64_t n = 0, kept = 0;
    for (uint64_t i = 0; i < known && n < most; i++) {
        const MadeFrame *one = &registered[i];
        if (one->start >= from && one->end <= to && is_there(one)) {
            found[n++] = *one;
        }
    }
    sort_records(found, n, sizeof *found / 8);
    for (uint64_t i = 0; i < n; i++) { /* what was registered twice is there twice */
        if (!kept || found[i].start >= found[kept - 1].end) {
            found[kept++] = found[i];
        }
    }
    return kept;
}

/* ---- for a file ---- */

static void end_entry(Array *bytes, size_t at) {
    append_until(bytes, 8);
    if (!bytes->failed) {
        const uint32_t n = (uint32_t)(bytes->n - at - 4);
        memcpy(bytes->items + at, &n, sizeof n);
    }
}

bool frames_append(const MadeFrame *one, uint64_t at, uint64_t bias, Array *bytes) {
    static const uint8_t letters[] = {1, 'z', 'R', 0}; /* behind the version */
    Cie cie;
    Frame frame;
    if (!read_entry(one->section, one->entry, &cie, &frame)) {
        return false;
    }
    const size_t common = bytes->n;
    append_number(bytes, 0, 8); /* its length, and no other's */
    append_bytes(bytes, letters, sizeof letters);
    append_leb(bytes, cie.code_align, false);
    append_leb(bytes, (uint64_t)cie.data_align, true);
    append_byte(bytes, (uint8_t)cie.return_register);
    append_byte(bytes, 1);
    append_byte(bytes, POINTER_RELATIVE_4);
    append_bytes(bytes, cie.program.at, reader_left(&cie.program));
    end_entry(bytes, common);
    const size_t own = bytes->n;
    append_number(bytes, 0, 4);
    append_number(bytes, own + 4 - common, 4);
    append_number(bytes, frame.start - bias - (at + own + 8), 4);
    append_number(bytes, frame.end - frame.start, 4);
    append_byte(bytes, 0);
    append_bytes(bytes, frame.program.at, reader_left(&frame.program));
    end_entry(bytes, own);
    return !bytes->failed;
}
