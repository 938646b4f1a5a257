/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings, instructions and segments, each known once.
 *
 * Code may be translated again and again (when it was unloaded, when the store of translations
 * is full): what was seen before is found again, so that memory grows with the program's code
 * and not with its running time.
 */
#include "engine.h"

#define CHAINS 65536u
#define FNV_OFFSET 0xCBF29CE484222325ull
#define FNV_PRIME 0x100000001B3ull

/* A table of pointers that grows. */
typedef struct {
    void **items;
    UInt n, room;
} Table;

static UInt table_add(Table *table, void *item) {
    if (table->n == table->room) {
        table->room = table->room ? 2 * table->room : 1024;
        table->items = VG_(realloc)("ridgepoint.table", table->items,
                                    table->room * sizeof *table->items);
    }
    table->items[table->n] = item;
    return table->n++;
}

static ULong hash_bytes(ULong hash, const void *bytes, SizeT n) {
    const UChar *byte = bytes;
    for (SizeT i = 0; i < n; i++) {
        hash = (hash ^ byte[i]) * FNV_PRIME;
    }
    return hash;
}

/* ---- strings ---- */

typedef struct String {
    struct String *next;
    UInt id;
    HChar text[];
} String;

static String *string_chains[CHAINS];
static Table strings;

UInt string_id(const HChar *text) {
    SizeT length = VG_(strlen)(text);
    if (strings.n == 0 && length > 0) {
        string_id(""); /* id 0 */
    }
    String **chain = &string_chains[hash_bytes(FNV_OFFSET, text, length) % CHAINS];
    for (String *string = *chain; string; string = string->next) {
        if (VG_(strcmp)(string->text, text) == 0) {
            return string->id;
        }
    }
    String *string = VG_(malloc)("ridgepoint.string", sizeof *string + length + 1);
    VG_(memcpy)(string->text, text, length + 1);
    string->next = *chain;
    *chain = string;
    string->id = table_add(&strings, string);
    return string->id;
}

UInt n_strings(void) {
    return strings.n;
}

const HChar *string_of(UInt id) {
    return ((String *)strings.items[id])->text;
}

/* ---- instructions ---- */

static Instruction *instruction_chains[CHAINS];
static Table instructions;

static UInt object_at(Addr address, DiEpoch epoch) {
    const HChar *name;
    return VG_(get_objname)(epoch, address, &name) ? string_id(name) : 0;
}

static UInt source_at(Addr address, DiEpoch epoch, UInt *line) {
    const HChar *file, *folder;
    if (!VG_(get_filename_linenum)(epoch, address, &file, &folder, line)) {
        *line = 0;
        return 0;
    }
    if (folder[0] == 0 || file[0] == '/') {
        return string_id(file);
    }
    SizeT size = VG_(strlen)(folder) + VG_(strlen)(file) + 2;
    HChar *path = VG_(malloc)("ridgepoint.path", size);
    VG_(sprintf)(path, "%s/%s", folder, file);
    UInt id = string_id(path);
    VG_(free)(path);
    return id;
}

static Instruction *new_instruction(Addr address, UInt length, UInt object, DiEpoch epoch) {
    Instruction *instruction = allocate(sizeof *instruction);
    const HChar *name;
    DebugInfo *info = VG_(find_DebugInfo)(epoch, address);
    instruction->address = address;
    instruction->file_address = info ? address - VG_(DebugInfo_get_text_bias)(info) : address;
    instruction->object = object;
    instruction->function = VG_(get_fnname)(epoch, address, &name) ? string_id(name) : 0;
    instruction->source = source_at(address, epoch, &instruction->line);
    instruction->length = length;
    VG_(memcpy)(instruction->code, (const void *)address, length);
    instruction->index = table_add(&instructions, instruction);
    return instruction;
}

Instruction *instruction_at(Addr address, UInt length, DiEpoch epoch) {
    tl_assert(length <= MAX_INSTRUCTION_BYTES);
    UInt object = object_at(address, epoch);
    Instruction **chain = &instruction_chains[(address ^ address >> 16) % CHAINS];
    for (Instruction *known = *chain; known; known = known->next) {
        if (known->address == address && known->length == length && known->object == object &&
            VG_(memcmp)(known->code, (const void *)address, length) == 0) {
            return known;
        }
    }
    Instruction *instruction = new_instruction(address, length, object, epoch);
    instruction->next = *chain;
    *chain = instruction;
    return instruction;
}

UInt n_instructions(void) {
    return instructions.n;
}

Instruction *instruction_of(UInt index) {
    return instructions.items[index];
}

/* ---- segments ---- */

static Segment *segment_chains[CHAINS];
static Table segments;

static SizeT bytes_of_instructions(const Segment *segment) {
    return segment->n_instructions * sizeof *segment->instructions;
}

static SizeT bytes_of_accesses(const Segment *segment) {
    return segment->n_accesses * sizeof *segment->accesses;
}

static Bool same_content(const Segment *a, const Segment *b) {
    return a->role == b->role && a->n_instructions == b->n_instructions &&
           a->n_accesses == b->n_accesses &&
           VG_(memcmp)(a->instructions, b->instructions, bytes_of_instructions(a)) == 0 &&
           VG_(memcmp)(a->accesses, b->accesses, bytes_of_accesses(a)) == 0;
}

/* The lines that the instructions are fetched from, a line named again only after another;
 * returns how many. There is room for two per instruction. */
static UInt find_lines(const Segment *segment, FetchedLine *lines) {
    const UInt line_bytes = options.geometry[0].line_bytes;
    Addr last = ~(Addr)0;
    UInt n = 0;
    for (UInt i = 0; i < segment->n_instructions; i++) {
        const Instruction *instruction = instruction_of(segment->instructions[i]);
        const Addr end = instruction->address + instruction->length - 1;
        for (Addr line = instruction->address / line_bytes; line <= end / line_bytes; line++) {
            if (line != last) {
                last = line;
                lines[n].address = line * line_bytes;
                lines[n++].instruction = instruction->index;
            }
        }
    }
    return n;
}

/* In one piece, and what a replay reads of it first: a large program runs through more segments
 * than the host's caches hold. */
static Segment *copied(const Segment *content, const FetchedLine *lines, UInt n_lines) {
    const SizeT bytes = sizeof *content + n_lines * sizeof *lines + bytes_of_accesses(content) +
                        bytes_of_instructions(content);
    Segment *segment = VG_(malloc)("ridgepoint.segment", bytes);
    *segment = *content;
    segment->n_lines = n_lines;
    segment->lines = (FetchedLine *)(segment + 1);
    segment->accesses = (Access *)(segment->lines + n_lines);
    segment->instructions = (UInt *)(segment->accesses + content->n_accesses);
    VG_(memcpy)(segment->lines, lines, n_lines * sizeof *lines);
    VG_(memcpy)(segment->accesses, content->accesses, bytes_of_accesses(content));
    VG_(memcpy)(segment->instructions, content->instructions, bytes_of_instructions(content));
    return segment;
}

Segment *segment_with(const Segment *content) {
    ULong hash = hash_bytes(FNV_OFFSET, content->instructions, bytes_of_instructions(content));
    hash = hash_bytes(hash, content->accesses, bytes_of_accesses(content));
    Segment **chain = &segment_chains[hash % CHAINS];
    for (Segment *known = *chain; known; known = known->next) {
        if (same_content(known, content)) {
            return known;
        }
    }
    FetchedLine *lines =
        VG_(malloc)("ridgepoint.lines", (2 * content->n_instructions + 1) * sizeof *lines);
    const UInt n_lines = options.n_geometries ? find_lines(content, lines) : 0;
    Segment *segment = copied(content, lines, n_lines);
    VG_(free)(lines);
    segment->next = *chain;
    *chain = segment;
    segment->index = table_add(&segments, segment);
    banks_make_room(segment->index);
    return segment;
}

UInt n_segments(void) {
    return segments.n;
}

Segment *segment_of(UInt index) {
    return segments.items[index];
}
