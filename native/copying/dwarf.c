/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf.h"

#define DW_AT_STMT_LIST 0x10
#define DW_AT_COMP_DIR 0x1B
#define DW_FORM_INDIRECT 0x16
#define DW_FORM_IMPLICIT_CONST 0x21
#define DW_UT_TYPE 2
#define DW_UT_SKELETON 4
#define DW_UT_SPLIT_COMPILE 5
#define DW_UT_SPLIT_TYPE 6

/* Damaged files could make each unit search a whole section. */
#define MOST_ABBREVIATIONS (UINT64_C(1) << 26)

/* ---- units and forms ---- */

Reader dwarf_unit(Reader *section, UnitForm *form) {
    uint64_t n = reader_number(section, 4);
    form->offset_bytes = 4;
    if (n == UINT32_MAX) {
        n = reader_number(section, 8);
        form->offset_bytes = 8;
    }
    return reader_part(section, n);
}

static Value text_at(DebugFile *debug, DebugKind kind, uint64_t offset) {
    return (Value){.text = debug_string(debug, kind, offset)};
}

Value dwarf_value(Reader *reader, uint64_t form, const UnitForm *unit, DebugFile *debug) {
    for (int i = 0; form == DW_FORM_INDIRECT && i < 4; i++) {
        form = reader_uleb(reader);
    }
    switch (form) {
    case 0x08: /* string */
        return (Value){.text = reader_string(reader)};
    case 0x0E: /* strp */
        return text_at(debug, DEBUG_STR, reader_number(reader, unit->offset_bytes));
    case 0x1F: /* line_strp */
        return text_at(debug, DEBUG_LINE_STR, reader_number(reader, unit->offset_bytes));
    case 0x01: /* addr */
        return (Value){.number = reader_number(reader, unit->address_bytes)};
    case 0x0B: case 0x0C: case 0x11: case 0x25: case 0x29: /* data1, flag, ref1, strx1, addrx1 */
        return (Value){.number = reader_number(reader, 1)};
    case 0x05: case 0x12: case 0x26: case 0x2A:
        return (Value){.number = reader_number(reader, 2)};
    case 0x27: case 0x2B:
        return (Value){.number = reader_number(reader, 3)};
    case 0x06: case 0x13: case 0x1C: case 0x28: case 0x2C:
        return (Value){.number = reader_number(reader, 4)};
    case 0x07: case 0x14: case 0x20: case 0x24:
        return (Value){.number = reader_number(reader, 8)};
    case 0x1E: /* data16 */
        reader_bytes(reader, 16);
        return (Value){0};
    case 0x10: /* ref_addr: in the first version an address */
        return (Value){.number = reader_number(reader, unit->version == 2 ? unit->address_bytes
                                                                          : unit->offset_bytes)};
    case 0x17: case 0x1D: case 0x1F20: case 0x1F21: /* offsets, also into other files */
        return (Value){.number = reader_number(reader, unit->offset_bytes)};
    case 0x0D: /* sdata */
        return (Value){.number = (uint64_t)reader_sleb(reader)};
    case 0x0F: case 0x15: case 0x1A: case 0x1B: case 0x22: case 0x23: case 0x1F01: case 0x1F02:
        return (Value){.number = reader_uleb(reader)};
    case 0x0A: /* blocks */
        reader_bytes(reader, reader_number(reader, 1));
        return (Value){0};
    case 0x03:
        reader_bytes(reader, reader_number(reader, 2));
        return (Value){0};
    case 0x04:
        reader_bytes(reader, reader_number(reader, 4));
        return (Value){0};
    case 0x09: case 0x18:
        reader_bytes(reader, reader_uleb(reader));
        return (Value){0};
    case 0x19: case DW_FORM_IMPLICIT_CONST: /* nothing here */
        return (Value){0};
    default:
        reader->bad = true;
        return (Value){0};
    }
}

/* ---- the first entry of each unit ---- */

typedef struct {
    uint64_t program;
    uint64_t folder; /* const char * */
} FolderRow;

/* Go past an entry of abbreviations. False: it was the last one. */
static bool next_attribute(Reader *abbreviations, uint64_t *attribute, uint64_t *form) {
    *attribute = reader_uleb(abbreviations);
    *form = reader_uleb(abbreviations);
    if (*form == DW_FORM_IMPLICIT_CONST) {
        reader_sleb(abbreviations);
    }
    return (*attribute || *form) && !abbreviations->bad;
}

/* Where the attributes of an abbreviation are. */
static bool find_abbreviation(Reader *abbreviations, uint64_t code, uint64_t *left) {
    for (;;) {
        const uint64_t found = reader_uleb(abbreviations);
        uint64_t attribute, form;
        reader_uleb(abbreviations);
        reader_byte(abbreviations);
        if (!found || abbreviations->bad) {
            return false;
        }
        if (found == code) {
            return true;
        }
        while (next_attribute(abbreviations, &attribute, &form)) {
            if (!--*left) {
                return false;
            }
        }
        if (!--*left) {
            return false;
        }
    }
}

/* Goes to the first entry of a unit, and to the abbreviations of it. */
static bool read_unit_header(Reader *unit, UnitForm *form, Reader *abbreviations) {
    uint64_t type = 0, offset;
    form->version = (unsigned)reader_number(unit, 2);
    if (form->version >= 5) {
        type = reader_byte(unit);
        form->address_bytes = reader_byte(unit);
        offset = reader_number(unit, form->offset_bytes);
    } else {
        offset = reader_number(unit, form->offset_bytes);
        form->address_bytes = reader_byte(unit);
    }
    if (type == DW_UT_SKELETON || type == DW_UT_SPLIT_COMPILE) {
        reader_bytes(unit, 8);
    }
    reader_bytes(abbreviations, offset);
    return !unit->bad && !abbreviations->bad && form->version >= 2 && form->version <= 5
           && form->address_bytes <= 8 && type != DW_UT_TYPE && type != DW_UT_SPLIT_TYPE;
}

static void read_unit(Folders *folders, DebugFile *debug, Reader unit, UnitForm form,
                      uint64_t *left) {
    Reader abbreviations = debug_section(debug, DEBUG_ABBREV);
    uint64_t attribute, kind, program = 0;
    const char *folder = NULL;
    bool has_program = false;
    if (!read_unit_header(&unit, &form, &abbreviations)
        || !find_abbreviation(&abbreviations, reader_uleb(&unit), left)) {
        return;
    }
    while (next_attribute(&abbreviations, &attribute, &kind) && !unit.bad) {
        const Value value = dwarf_value(&unit, kind, &form, debug);
        if (attribute == DW_AT_STMT_LIST && !unit.bad) {
            has_program = true;
            program = value.number;
        } else if (attribute == DW_AT_COMP_DIR && !unit.bad) {
            folder = value.text;
        }
    }
    FolderRow *row = has_program && folder ? array_add(&folders->rows, 1) : NULL;
    if (row) {
        *row = (FolderRow){program, (uint64_t)folder};
    }
}

static void read_units(Folders *folders, DebugFile *debug) {
    Reader section = debug_section(debug, DEBUG_INFO);
    uint64_t left = MOST_ABBREVIATIONS;
    while (reader_left(&section) && left) {
        UnitForm form;
        const Reader unit = dwarf_unit(&section, &form);
        read_unit(folders, debug, unit, form, &left);
    }
    sort_records(folders->rows.items, folders->rows.n, sizeof(FolderRow) / 8);
}

void folders_begin(Folders *folders) {
    *folders = (Folders){0};
    array_begin(&folders->rows, sizeof(FolderRow));
}

const char *folders_find(Folders *folders, DebugFile *debug, uint64_t program) {
    if (!folders->is_read) {
        folders->is_read = true;
        read_units(folders, debug);
    }
    const FolderRow *rows = (const FolderRow *)folders->rows.items;
    const size_t before =
        records_until(rows, folders->rows.n, sizeof(FolderRow) / 8, program);
    return before && rows[before - 1].program == program ? (const char *)rows[before - 1].folder
                                                         : "";
}

void folders_end(Folders *folders) {
    array_end(&folders->rows);
}
