/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#define N_CIES 64 /* remembered while all FDEs are read */
#define MOST_LETTERS 16

bool frame_next(Reader *reader, Reader *content, uint64_t *cie) {
    uint64_t bytes = reader_number(reader, 4);
    const bool is_long = bytes == UINT32_MAX;
    if (is_long) {
        bytes = reader_number(reader, 8);
    }
    if (reader->bad || !bytes) {
        return false;
    }
    *content = reader_part(reader, bytes);
    const uint64_t here = reader_address(content);
    const uint64_t back = reader_number(content, is_long ? 8 : 4);
    *cie = back ? here - back : 0;
    return !content->bad;
}

static bool read_augmentation(const Module *module, const char *letters, Reader *data, Cie *cie) {
    for (; *letters; letters++) {
        switch (*letters) {
        case 'R':
            cie->code_encoding = reader_byte(data);
            break;
        case 'L':
            cie->lsda_encoding = reader_byte(data);
            break;
        case 'P':
            cie->personality_encoding = reader_byte(data);
            cie->personality = reader_pointer(data, module, cie->personality_encoding, 0);
            if (!cie->personality) {
                return false;
            }
            break;
        case 'S':
            cie->is_signal_frame = true;
            break;
        default:
            return false;
        }
    }
    return !data->bad;
}

bool frame_read_cie(const Module *module, uint64_t address, Cie *cie) {
    Reader reader = reader_at(module, address), content;
    uint64_t its_cie;
    *cie = (Cie){.lsda_encoding = POINTER_OMITTED, .personality_encoding = POINTER_OMITTED};
    if (reader.bad || !frame_next(&reader, &content, &its_cie) || its_cie) {
        return false;
    }
    const uint8_t version = reader_byte(&content);
    const char *letters = (const char *)content.at;
    for (int n = 0; reader_byte(&content); n++) {
        if (n == MOST_LETTERS) {
            return false;
        }
    }
    if (content.bad || (version != 1 && version != 3)) {
        return false;
    }
    cie->code_align = reader_uleb(&content);
    cie->data_align = reader_sleb(&content);
    cie->return_register = version == 1 ? reader_byte(&content) : reader_uleb(&content);
    if (letters[0] == 'z') {
        Reader data = reader_part(&content, reader_uleb(&content));
        cie->has_augmentation = true;
        if (!read_augmentation(module, letters + 1, &data, cie)) {
            return false;
        }
    } else if (letters[0]) {
        return false;
    }
    cie->program = content;
    cie->address = address;
    return !content.bad;
}

bool frame_read(const Module *module, uint64_t address, Cie *cie, Frame *frame) {
    Reader reader = reader_at(module, address), content;
    uint64_t its_cie;
    if (reader.bad || !frame_next(&reader, &content, &its_cie) || !its_cie) {
        return false;
    }
    if (cie->address != its_cie && !frame_read_cie(module, its_cie, cie)) {
        cie->address = 0;
        return false;
    }
    frame->lsda = 0;
    frame->start = reader_pointer(&content, module, cie->code_encoding, 0);
    frame->end = frame->start + reader_form(&content, cie->code_encoding);
    if (cie->has_augmentation) {
        Reader data = reader_part(&content, reader_uleb(&content));
        if (cie->lsda_encoding != POINTER_OMITTED && reader_left(&data)) {
            frame->lsda = reader_pointer(&data, module, cie->lsda_encoding, 0);
        }
        content.bad |= data.bad;
    }
    frame->program = content;
    return !content.bad && frame->end >= frame->start
        && !(cie->code_encoding & POINTER_INDIRECT)
        && (cie->lsda_encoding == POINTER_OMITTED || !(cie->lsda_encoding & POINTER_INDIRECT));
}

/* ---- all of a module ---- */

/* `start` is where its function is said to begin, or 0: of one that cannot be read that much is
   known, so that its function is not taken for one without. */
static void add(const Module *module, uint64_t address, uint64_t start, Cie *cies, Array *fdes) {
    Reader reader = reader_at(module, address), content;
    Frame frame;
    uint64_t its_cie;
    if (reader.bad || !frame_next(&reader, &content, &its_cie) || !its_cie) {
        return;
    }
    Cie *cie = &cies[its_cie / 4 % N_CIES];
    if (!frame_read(module, address, cie, &frame)) {
        frame.start = start;
        frame.end = start ? start + 1 : 0;
    }
    if (frame.end > frame.start) {
        Fde *fde = array_add(fdes, 1);
        if (fde) {
            *fde = (Fde){frame.start, frame.end, address, cie->is_signal_frame};
        }
    }
}

static void add_section(const Module *module, uint64_t start, uint64_t end, Cie *cies,
                        Array *fdes) {
    Reader reader = reader_at(module, start), content;
    uint64_t cie;
    while (!reader.bad && reader_address(&reader) < end) {
        const uint64_t address = reader_address(&reader);
        if (!frame_next(&reader, &content, &cie)) {
            return;
        }
        if (cie) {
            add(module, address, 0, cies, fdes);
        }
    }
}

/* What unwinders search; false if it has another form than they can. */
static bool add_table(const Module *module, Reader reader, uint64_t n, uint8_t encoding,
                      uint64_t header, Cie *cies, Array *fdes) {
    if ((encoding & POINTER_HOW) != POINTER_TO_DATA || n > reader_left(&reader) / 4) {
        return false;
    }
    for (; n; n--) {
        const uint64_t start = reader_pointer(&reader, module, encoding, header);
        const uint64_t address = reader_pointer(&reader, module, encoding, header);
        if (reader.bad) {
            return false;
        }
        add(module, address, start, cies, fdes);
    }
    return true;
}

void frame_find_all(const Module *module, uint64_t header, Range section, Array *fdes) {
    Cie cies[N_CIES];
    memset(cies, 0, sizeof cies);
    Reader reader = reader_at(module, header);
    const bool has_header = header && reader_byte(&reader) == 1;
    const uint8_t frames_encoding = reader_byte(&reader), count_encoding = reader_byte(&reader),
                  table_encoding = reader_byte(&reader);
    const uint64_t frames = reader_pointer(&reader, module, frames_encoding, header);
    if (has_header && !reader.bad) {
        Reader table = reader;
        const uint64_t n = reader_form(&table, count_encoding);
        if (!table.bad && add_table(module, table, n, table_encoding, header, cies, fdes)) {
            return;
        }
        fdes->n = 0;
        if (!section.end) {
            section = (Range){frames, UINT64_MAX};
        }
    }
    if (section.end) {
        add_section(module, section.start, section.end, cies, fdes);
    }
}
