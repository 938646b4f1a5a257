/* SPDX-License-Identifier: Apache-2.0 */
/* What the copier knows of a whole module before it writes anything: where instructions and blocks
 * begin, and which places something may jump to.
 *
 * One bit per byte of code says each of these; instructions themselves are decoded twice, once
 * here and once when their function is copied, because a record of each would take more memory
 * than everything else together. */
#ifndef RIDGEPOINT_ANALYSIS_H
#define RIDGEPOINT_ANALYSIS_H

#include "instruction.h"
#include "module.h"

typedef enum {
    PIECE_FUNCTION,
    PIECE_STUBS, /* of the PLT, if no function covers them */
    PIECE_GAP,   /* code between functions, or data: copied for who jumps or falls into it, never
                    patched, and not believed to be what it looks like */
} PieceKind;

typedef struct {
    uint64_t start, end;
    Function function;   /* of others than functions nothing but bounds */
    PieceKind kind;
    bool is_decoded;     /* to its end: what it refers to is known */
    bool is_copied;
    bool has_indirect;   /* an indirect jump */
    bool ends_open;      /* its last instruction may go on behind it, */
    bool runs_on;        /* and is no call, which compilers put there if it does not return */
} Piece;

typedef struct {
    const Module *module;
    uint64_t from, to;   /* all code lies in here; bit 0 of the maps is `from` */
    size_t words;        /* of a map */
    uint64_t *starts;    /* instructions that are copied */
    uint64_t *leaders;   /* blocks begin here, if an instruction does */
    uint64_t *stops;     /* something may jump or return to here */
    uint64_t *taken;     /* its address is in a register or in data */
    uint64_t *outside;   /* reached by other ways than branches of the same function */
    uint64_t *entered;   /* those of them that are code for sure */
    uint64_t *joined;    /* reached in other ways than by branches and tables of the same function */
    uint64_t *flagged;   /* functions that take or return flags */
    uint32_t *ranks;     /* instructions before each word of `starts` */
    Piece *pieces;       /* sorted */
    size_t n_pieces;
    Instruction *list;   /* those of the piece at hand */
    size_t room;
    size_t n_list;
    uint64_t n_instructions, n_copied, n_indirect, n_unresolved;
    bool uses_gs;
    Array own_pieces, system_calls;
} Analysis;

#define NO_INDEX UINT32_MAX

/* NULL, or why not. `only`: as copy_make has it. */
const char *analysis_make(Analysis *analysis, const Module *module, const uint64_t *only,
                          size_t n_only);
void analysis_free(Analysis *analysis);

/* Whether the loader is asked something behind an instruction: by a client request; or by that or
   by another configuration of tiles, after which counts go to another bank. */
bool is_request(const Module *module, const Instruction *x);
bool switches_bank(const Module *module, const Instruction *x);

/* Whether instruction i of the list makes its function depend on where it is. */
bool analysis_reads_own_address(const Analysis *analysis, size_t i);

void analysis_list_pieces(Analysis *analysis);

/* Decode a piece into analysis->list. False: something in it is no instruction. */
bool analysis_decode(Analysis *analysis, const Piece *piece);

/* Copy nothing of the pieces that begin there. */
void analysis_leave_alone(Analysis *analysis, const uint64_t *starts, size_t n);

/* False: the piece that was decoded last looks as if it used %gs. Where that is no guess,
   analysis->uses_gs is set. */
bool analysis_gs_is_free(Analysis *analysis, const Piece *piece);

/* Number of the copied instruction at an address, or NO_INDEX. */
uint32_t analysis_index(const Analysis *analysis, uint64_t address);

/* The piece that holds an address, or NULL. */
const Piece *analysis_piece_at(const Analysis *analysis, uint64_t address);

/* Code whose address is in data, or that begins a function. */
void mark_taken(Analysis *analysis, uint64_t address);

/* Jump tables of the piece that was decoded last: their targets are leaders and taken. */
void analysis_find_tables(Analysis *analysis, const Piece *piece);

/* Whether a jump of the piece may lead there: to an instruction of it, or of its unlikely part. */
bool analysis_is_label(const Analysis *analysis, const Piece *piece, uint64_t target);

/* Whatever the bytes outside of decoded pieces may jump to is a stop. */
void analysis_scan_gaps(Analysis *analysis);

/* Without the CPU's instruction, which not all have, or a library's function. */
static inline uint32_t count_bits(uint64_t x) {
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (uint32_t)(x * UINT64_C(0x0101010101010101) >> 56);
}

static inline bool is_marked(const Analysis *analysis, const uint64_t *map, uint64_t address) {
    const uint64_t i = address - analysis->from;
    return i < analysis->to - analysis->from && (map[i >> 6] >> (i & 63) & 1);
}

static inline void set_mark(const Analysis *analysis, uint64_t *map, uint64_t address) {
    const uint64_t i = address - analysis->from;
    if (i < analysis->to - analysis->from) {
        map[i >> 6] |= UINT64_C(1) << (i & 63);
    }
}

static inline void clear_mark(const Analysis *analysis, uint64_t *map, uint64_t address) {
    const uint64_t i = address - analysis->from;
    if (i < analysis->to - analysis->from) {
        map[i >> 6] &= ~(UINT64_C(1) << (i & 63));
    }
}

#endif
