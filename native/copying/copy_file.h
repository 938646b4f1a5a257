/* SPDX-License-Identifier: Apache-2.0 */
/* The file that holds the copy of a module: written by the copier, loaded by the loader, its rows
 * read by Python (struct formats there follow these).
 *
 * A header, then sections at multiples of 4096 bytes (code) or 8. Addresses are those that the
 * module's file states ("vaddr"). `delta` is where the copy is planned to be, relative to the
 * module's load bias, and `first_counter` which counters it is planned to have: while both are as
 * planned CODE is mapped from the file, and nothing in it has to be adjusted but hooks.
 */
#ifndef RIDGEPOINT_COPY_FILE_H
#define RIDGEPOINT_COPY_FILE_H

#include <stdint.h>

#define COPY_MAGIC "RPCOPY01"

typedef struct {
    uint64_t at, n; /* offset in the file, and how many entries (CODE: bytes) */
} Section;

typedef enum {
    SECTION_CODE,     /* bytes; the first HOOKS_BYTES are hooks, which the loader fills */
    SECTION_OUTWARD,  /* uint32_t: offsets in CODE of rel32 that point out of the copy */
    SECTION_COUNTERS, /* uint32_t: offsets in CODE of disp32 of gs:[COUNTERS_AT + 8 n], n from
                         first_counter */
    SECTION_ANCHORS,  /* Anchor */
    SECTION_ROWS,     /* Row, one per counter */
    SECTION_PLACES,   /* Place: where instructions are in CODE, by `at` */
    SECTION_TURNS,    /* LoopTurn, by `head` */
    SECTION_ACCESSES, /* Access: of recording blocks, in the order of their addresses in the ring */
    SECTION_NAMES,    /* bytes: strings with their 0; the first is empty */
    SECTION_LINES,    /* Line, by `at` */
    /* Of jump tables that were copied. */
    SECTION_TOWARD,   /* uint32_t: offsets in CODE of distances of 4 bytes from the original to the
                         copy */
    SECTION_ABSOLUTE, /* uint32_t: offsets in CODE of words of 8 bytes, places in the copy as
                         distances from the module's load bias while the copy is where planned */
    SECTION_SUMS,     /* Sum: of rows that have no counter, by `row` */
    SECTION_RECORDING, /* Recording: one, if there is counting code too */
    SECTION_FUNCTIONS, /* NamedFunction, by `at`: of a selecting copy */
    SECTION_BORROWED = 15, /* Borrowed, by `begin` */
    SECTION_COUNT = 16
} SectionKind;

typedef struct {
    char magic[8];
    uint64_t file_bytes;
    uint64_t identity[2];   /* of the module: of its build id, or of its content */
    uint64_t module_bytes;  /* of its file */
    uint64_t lowest, highest; /* vaddrs of what is loaded, whole pages */
    uint64_t delta;
    uint64_t eh_frame_hdr;  /* offset in CODE; 0: none */
    uint64_t flags;         /* COPY_* */
    uint64_t n_instructions, n_functions, n_left_alone;
    Section sections[SECTION_COUNT];
    uint64_t first_counter; /* whose number CODE has for row 0: planned ones, or 0 */
} CopyHeader;

#define COPY_USES_GS UINT64_C(1)
#define COPY_RECORDS UINT64_C(2)   /* every block notes its addresses */
#define COPY_HAS_BOTH UINT64_C(4)  /* counting and recording code */

/* Five bytes that become a jump into the copy, or two that become a short jump to five of
   padding that do. */
typedef struct {
    uint64_t address;  /* vaddr of the first byte that is patched */
    uint32_t to;       /* offset in CODE; of a short jump ~0 */
    int8_t hop;        /* of a short jump its displacement */
    uint8_t hook;      /* EntryHook: the loader has a function to call in between */
    uint8_t expected[5]; /* what is there in the file */
    uint8_t unused[5];
} Anchor;

typedef enum {
    ENTRY_PLAIN,
    ENTRY_FIND_OBJECT,   /* _dl_find_object */
    ENTRY_ITERATE_PHDR,  /* dl_iterate_phdr */
    ENTRY_ADDR,          /* dladdr, dladdr1: the first argument is translated */
    ENTRY_CALLER,        /* dlopen, dlmopen, dlsym, dlvsym: they ask who called them */
    ENTRY_GET_IP,        /* _Unwind_GetIP: the result is translated, for who looks up names */
    ENTRY_GET_START,     /* _Unwind_GetRegionStart: likewise */
    ENTRY_REGISTER_FRAME, /* __register_frame: the first argument is looked at */
} EntryHook;

typedef enum {
    ROW_BLOCK,      /* instructions of [address, address + bytes) were executed together */
    ROW_MASK,       /* sum of the population of the mask of the instruction at `address` over its
                       executions, cut to its lanes; `bytes` is the lanes */
    ROW_ITERATIONS, /* of the string instruction with a REP prefix at `address` */
    ROW_UNUSED,
} RowKind;

typedef struct {
    uint64_t address;
    uint32_t bytes;
    uint16_t kind;       /* RowKind */
    uint16_t n_accesses; /* of a block: words in the ring after that of the block itself, which is
                            the displacement of its counter, COUNTERS_AT + 8 n */
    uint32_t first_access; /* in ACCESSES; there are as many as fill these words */
    uint32_t shares;       /* 1 + the row whose counter this one has too (a block that is executed as
                              often, the same mask); its own stays 0. 0: none */
} Row;

/* A row whose counter stays 0 counts what those of all its sums together do. */
typedef struct {
    uint32_t row;
    int32_t term; /* 1 + a row with a counter; less than 0: it is subtracted */
} Sum;

typedef struct {
    uint32_t at;      /* offset in CODE of the copy of an instruction */
    uint32_t address; /* vaddr - lowest */
} Place;

/* A thread at the head of this loop, which counts in registers and does not ask, may go on where what
   it counted is added up, and then in the recording code. */
typedef struct {
    uint32_t to, head; /* offsets in CODE */
} LoopTurn;

/* The recording code of a copy that has both. Its rows are those of the counting code once more, in the
   same order: but for the first of all accesses, which only recording rows have.
   At entries of functions, where calls return to, where exceptions are caught and at the heads of
   loops, counting code asks whether slots[SLOT_TURN] is 0; if not, it goes on in the recording code.
   That calls HOOK_RING_FULL at the head of a block when the ring is full, and goes on in the counting
   code if it is full still. */
typedef struct {
    uint32_t begin, end;   /* offsets in CODE */
    uint32_t eh_frame_hdr; /* of its own; 0: none */
    uint32_t first_row;
} Recording;

/* What follows the address of an access in the ring, if anything, depends on its form. Both ACCESS_READ
   and ACCESS_WRITE: read, modified and written. An address of 0 is one that did not happen. */
typedef enum {
    ACCESS_READ = 1,
    ACCESS_WRITE = 2,
    ACCESS_NON_TEMPORAL = 4, /* of a store */
    ACCESS_PREFETCH = 8,     /* shape: PrefetchHint */
    /* Gather or scatter: the address without the index, 8 words of indices, 1 of the mask (a bit
       per lane). shape: bits 0-3 lanes - 1; 4-5 log2 of the scale; 6 indices of 8 bytes. */
    ACCESS_GATHER = 16,
    /* Of a string instruction with a REP prefix: the pointer before, 1 word: the pointer after.
       Of MOVS and CMPS two such accesses follow each other, and are made in turns. */
    ACCESS_REPEATED = 32,
    /* Under a mask: the address, 1 word of the mask. shape: bits 0-5 lanes - 1; 7: compressed. */
    ACCESS_MASKED = 64,
    /* Of a tile: the address of its first row, 1 word: from row to row. shape: the tile's number;
       rows and their bytes are those of the bank's configuration. */
    ACCESS_TILE = 128,
} AccessBits;

typedef enum { HINT_T0, HINT_T1, HINT_T2, HINT_NTA } PrefetchHint; /* PREFETCHW: T0 */

typedef struct {
    uint32_t instruction; /* vaddr - lowest */
    uint16_t bytes;       /* of a gather, REP or masked access: of one element */
    uint8_t bits;         /* AccessBits */
    uint8_t shape;
} Access;

/* Source lines of code: of that from `at` up to the next one's. */
typedef struct {
    uint32_t at;   /* vaddr - lowest */
    uint32_t file; /* its path in SECTION_NAMES; 0: none */
    uint32_t line; /* 0: none */
} Line;

/* Offsets in CODE of a loop that counts in registers whose own values are in the red zone meanwhile:
   the original cannot go on where its copy is. */
typedef struct {
    uint32_t begin, end;
} Borrowed;

/* A function that can be counted alone, with what it calls: the copy of its entry begins with a jump
   of 2 bytes over a call of HOOK_ENTERED. One may have several names. */
typedef struct {
    uint32_t at;   /* offset in CODE of the jump */
    uint32_t name; /* in SECTION_NAMES, as C++ writes it */
} NamedFunction;

/* ---- hooks: addresses at the beginning of CODE that emitted code jumps or calls through ---- */

#define HOOKS_BYTES 4096u

typedef enum {
    /* A system call is emitted as
     *        lea rcx, [rip + L]
     *        jmp [rip + HOOK_SYSCALL]        may use rcx and r11 and no other register or flag;
     *                                        goes on at rcx, or at rcx - AFTER_CLONE_BYTES
     *     K: syscall                         of calls that begin a thread or process
     *        lea rcx, [rip + M]
     *        jmp [rip + HOOK_AFTER_CLONE]    goes on at rcx
     *     L: syscall
     *     M:
     */
    HOOK_SYSCALL,
    HOOK_AFTER_CLONE,
    /* The others are called with everything preserved, 128 bytes below the program's stack:
     *        lea rsp, [rsp - 128]; call [rip + HOOK]; lea rsp, [rsp + 128]  */
    HOOK_REQUEST,       /* after Valgrind's preamble and xchg rbx, rbx: rax points to six words */
    HOOK_TILES,         /* after LDTILECFG, TILERELEASE and XRSTOR: read the configuration */
    HOOK_RING_FULL,     /* the ring has less room than the block needs */
    HOOK_ENTERED,       /* a function that is counted alone begins */
    HOOK_LEFT,          /* rsp is above slots[SLOT_LIMIT], where code is returned to */
    HOOK_COUNT = 64
} Hook;

#define AFTER_CLONE_BYTES 15u

/* From where the hook returns to back to the jump over it, to the beginning of what was returned to,
   and to the place that the program's stack pointer had. */
#define CALLED_BYTES 11u
#define ENTERED_BYTES (2u + CALLED_BYTES)
#define LEFT_BYTES (11u + CALLED_BYTES)
#define BELOW_STACK 128u

/* Bank.slots that emitted code uses; the loader has those from SLOT_LOADER. */
#define SLOT_SPILL 0   /* 0 to 7: registers that emitted code has no room for */
#define SLOT_LIMIT 8   /* in a selecting copy: the stack pointer above which HOOK_LEFT is called */
#define SLOT_TURN 9    /* not 0: counting code is to record */
#define SLOT_BURST 10  /* the number of the burst that the ring holds some of; 0: none */
#define SLOT_MARK 11   /* how far the thread was, as known to traffic_burst.c */
#define SLOT_MARKED 12 /* when that was */
#define SLOT_LOADER 16

#endif
