/* SPDX-License-Identifier: Apache-2.0 */
#include "lines.h"

#include "dwarf.h"
#include "names.h"

#define DW_LNS_COPY 1
#define DW_LNS_ADVANCE_PC 2
#define DW_LNS_ADVANCE_LINE 3
#define DW_LNS_SET_FILE 4
#define DW_LNS_CONST_ADD_PC 8
#define DW_LNS_FIXED_ADVANCE_PC 9
#define DW_LNE_END_SEQUENCE 1
#define DW_LNE_SET_ADDRESS 2
#define DW_LNE_DEFINE_FILE 3
#define DW_LNCT_PATH 1
#define DW_LNCT_DIRECTORY_INDEX 2

#define MOST_FORMATS 16
#define UNNAMED UINT32_MAX /* of a file whose path was not needed yet */

/* A row while it is sorted. */
typedef struct {
    uint64_t address;
    uint32_t file, line; /* line 0: code ends there, or comes from no line */
} FoundLine;

typedef struct {
    const char *name;
    uint64_t folder;
    uint32_t path; /* in SECTION_NAMES */
} SourceFile;

/* The program at hand. */
typedef struct {
    const Module *module;
    DebugFile debug;
    Folders ran_in;   /* where compilers ran */
    Names names;
    Array found;      /* FoundLine */
    Array folders;    /* const char *, by their numbers */
    Array files;      /* SourceFile, by their numbers */
    const char *base; /* what folders are relative to */
    UnitForm form;
    unsigned least_bytes, line_range, first_special;
    int line_base;
    uint8_t arguments[256];
    Reader code;
    /* of the sequence at hand */
    size_t began;     /* how many rows there were */
    FoundLine last;   /* not put down yet: several rows of one address count as one */
    bool has_last, is_wanted;
} Lines;

/* ---- rows ---- */

static void put_down(Lines *l) {
    const FoundLine *before =
        l->found.n > l->began ? (FoundLine *)l->found.items + l->found.n - 1 : NULL;
    const bool goes_on = before && before->file == l->last.file && before->line == l->last.line
                         && before->address <= l->last.address;
    FoundLine *row = l->has_last && !goes_on ? array_add(&l->found, 1) : NULL;
    if (row) {
        *row = l->last;
    }
    l->has_last = false;
}

static uint32_t path_of(Lines *l, uint64_t number) {
    SourceFile *file = number < l->files.n ? (SourceFile *)l->files.items + number : NULL;
    if (!file || !file->name) {
        return 0;
    }
    if (file->path == UNNAMED) {
        const char *const *folders = (const char *const *)l->folders.items;
        file->path = names_add_path(&l->names, l->base,
                                    file->folder < l->folders.n ? folders[file->folder] : "",
                                    file->name);
    }
    return file->path;
}

static void add_row(Lines *l, uint64_t address, uint64_t file, uint64_t line) {
    if (!l->has_last && l->found.n == l->began) {
        /* What linkers dropped is left at address 0 or thereabouts. */
        l->is_wanted = module_is_code(l->module, address);
    }
    if (!l->is_wanted) {
        l->has_last = true;
        return;
    }
    const FoundLine row = {address, line ? path_of(l, file) : 0,
                           line <= UINT32_MAX ? (uint32_t)line : 0};
    if (l->has_last && l->last.address != address) {
        put_down(l);
    }
    if (!l->has_last || row.line || !l->last.line) {
        l->last = row;
        l->has_last = true;
    }
}

static void end_sequence(Lines *l, uint64_t address) {
    if (l->is_wanted) {
        add_row(l, address, 0, 0);
        put_down(l);
    }
    l->began = l->found.n;
    l->has_last = l->is_wanted = false;
}

/* ---- programs ---- */

typedef struct {
    uint64_t address, file, line;
} State;

static const State initial = {.file = 1, .line = 1};

static void add_file(Lines *l, const char *name, uint64_t folder) {
    SourceFile *file = array_add(&l->files, 1);
    if (file) {
        *file = (SourceFile){name, folder, UNNAMED};
    }
}

static void read_old_file(Lines *l, Reader *reader, const char *name) {
    const uint64_t folder = reader_uleb(reader);
    reader_uleb(reader); /* when it changed */
    reader_uleb(reader); /* how long it is */
    add_file(l, name, folder);
}

static void run_extended(Lines *l, State *state) {
    Reader own = reader_part(&l->code, reader_uleb(&l->code));
    switch (reader_byte(&own)) {
    case DW_LNE_END_SEQUENCE:
        end_sequence(l, state->address);
        *state = initial;
        break;
    case DW_LNE_SET_ADDRESS:
        state->address = reader_left(&own) <= 8 ? reader_number(&own, (unsigned)reader_left(&own))
                                                : 0;
        break;
    case DW_LNE_DEFINE_FILE: {
        const char *name = reader_string(&own);
        read_old_file(l, &own, name);
        break;
    }
    }
}

static void run_standard(Lines *l, State *state, uint8_t code) {
    switch (code) {
    case DW_LNS_COPY:
        add_row(l, state->address, state->file, state->line);
        break;
    case DW_LNS_ADVANCE_PC:
        state->address += reader_uleb(&l->code) * l->least_bytes;
        break;
    case DW_LNS_ADVANCE_LINE:
        state->line += (uint64_t)reader_sleb(&l->code);
        break;
    case DW_LNS_SET_FILE:
        state->file = reader_uleb(&l->code);
        break;
    case DW_LNS_CONST_ADD_PC:
        state->address += (255 - l->first_special) / l->line_range * l->least_bytes;
        break;
    case DW_LNS_FIXED_ADVANCE_PC:
        state->address += reader_number(&l->code, 2);
        break;
    default:
        for (unsigned i = 0; i < l->arguments[code]; i++) {
            reader_uleb(&l->code);
        }
    }
}

static void run(Lines *l) {
    State state = initial;
    while (reader_left(&l->code)) {
        const uint8_t code = *l->code.at++;
        if (code >= l->first_special) {
            const unsigned step = code - l->first_special;
            state.address += step / l->line_range * l->least_bytes;
            state.line += (uint64_t)(int64_t)(l->line_base + (int)(step % l->line_range));
            add_row(l, state.address, state.file, state.line);
        } else if (code) {
            run_standard(l, &state, code);
        } else {
            run_extended(l, &state);
        }
    }
    end_sequence(l, state.address);
}

/* ---- tables of folders and files ---- */

static void add_folder(Lines *l, const char *name) {
    const char **folder = array_add(&l->folders, 1);
    if (folder) {
        *folder = name;
    }
}

/* Before version 5: names until an empty one; the first folder is where the compiler ran. */
static void read_old_tables(Lines *l, Reader *header) {
    const char *name;
    add_folder(l, "");
    while (*(name = reader_string(header))) {
        add_folder(l, name);
    }
    add_file(l, NULL, 0); /* they count from 1 */
    while (*(name = reader_string(header))) {
        read_old_file(l, header, name);
    }
}

/* From version 5 on a table says how it is written. */
static void read_table(Lines *l, Reader *header, bool is_of_files) {
    uint64_t contents[MOST_FORMATS], forms[MOST_FORMATS];
    const unsigned n_formats = reader_byte(header);
    if (n_formats > MOST_FORMATS) {
        header->bad = true;
        return;
    }
    for (unsigned i = 0; i < n_formats; i++) {
        contents[i] = reader_uleb(header);
        forms[i] = reader_uleb(header);
    }
    const uint64_t n = reader_uleb(header);
    const uint8_t *before = NULL;
    for (uint64_t k = 0; k < n && header->at != before && !header->bad; k++) {
        const char *name = "";
        before = header->at; /* entries of no bytes would have no end */
        uint64_t folder = 0;
        for (unsigned i = 0; i < n_formats; i++) {
            const Value value = dwarf_value(header, forms[i], &l->form, &l->debug);
            if (contents[i] == DW_LNCT_PATH) {
                name = value.text ? value.text : "";
            } else if (contents[i] == DW_LNCT_DIRECTORY_INDEX) {
                folder = value.number;
            }
        }
        if (is_of_files) {
            add_file(l, name, folder);
        } else {
            add_folder(l, name);
        }
    }
}

static void read_tables(Lines *l, Reader *header, uint64_t offset) {
    l->folders.n = l->files.n = 0;
    l->base = "";
    if (l->form.version >= 5) {
        read_table(l, header, false);
        if (l->folders.n) {
            l->base = *(const char **)l->folders.items;
            *(const char **)l->folders.items = "";
        }
        read_table(l, header, true);
    } else {
        read_old_tables(l, header);
    }
    if (l->base[0] != '/') {
        const char *ran_in = folders_find(&l->ran_in, &l->debug, offset);
        l->base = *ran_in ? ran_in : l->base;
    }
}

/* ---- headers ---- */

static bool read_header(Lines *l, Reader unit, uint64_t offset) {
    l->form.version = (unsigned)reader_number(&unit, 2);
    l->form.address_bytes = 8;
    if (l->form.version >= 5) {
        l->form.address_bytes = reader_byte(&unit);
        reader_byte(&unit); /* of a selector of segments */
    }
    const uint64_t header_bytes = reader_number(&unit, l->form.offset_bytes);
    Reader header = reader_part(&unit, header_bytes);
    l->code = unit;
    l->least_bytes = reader_byte(&header);
    if (l->form.version >= 4) {
        reader_byte(&header); /* operations of one instruction */
    }
    reader_byte(&header); /* whether lines are statements at first */
    l->line_base = (int8_t)reader_byte(&header);
    l->line_range = reader_byte(&header);
    l->first_special = reader_byte(&header);
    for (unsigned i = 1; i < l->first_special; i++) {
        l->arguments[i] = reader_byte(&header);
    }
    if (header.bad || unit.bad || l->form.version < 2 || l->form.version > 5 || !l->line_range
        || !l->first_special || l->form.address_bytes > 8) {
        return false;
    }
    read_tables(l, &header, offset);
    return true;
}

static void run_all(Lines *l) {
    Reader section = debug_section(&l->debug, DEBUG_LINE);
    const uint8_t *begin = section.at;
    while (reader_left(&section) && !l->found.failed) {
        const uint64_t offset = (uint64_t)(section.at - begin);
        const Reader unit = dwarf_unit(&section, &l->form);
        if (read_header(l, unit, offset)) {
            run(l);
        }
    }
}

/* ---- the section ---- */

/* Of several lines of one address the last counts; ends of sequences give way to beginnings. */
static void write_rows(const Lines *l, Array *out) {
    const FoundLine *found = (const FoundLine *)l->found.items;
    const Module *module = l->module;
    FoundLine last = {0};
    for (size_t i = 0; i < l->found.n;) {
        FoundLine one = found[i++];
        for (; i < l->found.n && found[i].address == one.address; i++) {
            one = found[i].line || !one.line ? found[i] : one;
        }
        if (one.address < module->lowest || one.address - module->lowest > UINT32_MAX
            || (one.line == last.line && one.file == last.file)) {
            continue;
        }
        Line *line = array_add(out, 1);
        if (line) {
            *line = (Line){(uint32_t)(one.address - module->lowest), one.file, one.line};
        }
        last = one;
    }
}

void lines_add(const Module *module, Unpack unpack, Copy *copy) {
    Array *lines = &copy->sections[SECTION_LINES];
    Lines l = {.module = module};
    if (debug_file_begin(&l.debug, module, unpack)) {
        folders_begin(&l.ran_in);
        names_begin(&l.names, &copy->sections[SECTION_NAMES]);
        array_begin(&l.found, sizeof(FoundLine));
        array_begin(&l.folders, sizeof(const char *));
        array_begin(&l.files, sizeof(SourceFile));
        run_all(&l);
        sort_records(l.found.items, l.found.n, sizeof(FoundLine) / 8);
        write_rows(&l, lines);
        if (lines->failed || l.found.failed || l.names.text->failed) {
            lines->n = 0;
            lines->failed = l.names.text->failed = false;
        }
        array_end(&l.files);
        array_end(&l.folders);
        array_end(&l.found);
        names_end(&l.names);
        folders_end(&l.ran_in);
    }
    debug_file_end(&l.debug);
}
