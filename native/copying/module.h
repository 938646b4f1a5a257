/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a module (an ELF file, or code made at run time) before it is copied. */
#ifndef RIDGEPOINT_MODULE_H
#define RIDGEPOINT_MODULE_H

#include "memory.h"

typedef struct {
    uint64_t start, end;
} Range;

typedef struct {
    uint64_t address;     /* vaddr of its first byte */
    uint64_t bytes;       /* in memory; those beyond `known` are zeros */
    uint64_t known;       /* in the file */
    const uint8_t *content;
    bool executable, writable;
} Segment;

/* Bounds from symbols (FUNC, GNU_IFUNC of .symtab and .dynsym with a size) and from .eh_frame. A
   symbol counts before an FDE of the same start. One that begins inside another is dropped, and
   its start is among `entries`. */
typedef struct {
    uint64_t start, end;
    uint64_t fde;         /* vaddr of its FDE; 0: none */
    uint32_t name;        /* offset in `strings`; 0: no symbol */
    bool is_signal_frame; /* of an augmentation with S: unwinders know its bytes */
    bool has_own_frames;  /* its callees' return addresses are known to a table that is not ours */
    bool is_in_rseq;      /* a restartable sequence: its addresses are known to the kernel */
    bool is_guessed;      /* nothing but code that leads to it says that it is there */
} Function;

/* A slot of the global offset table and the symbol that it is for. */
typedef struct {
    uint64_t slot;
    uint32_t name;
} Import;

/* A row of the unwind tables. */
typedef struct {
    uint64_t start, end;
    uint64_t address;       /* vaddr of the FDE */
    uint64_t is_signal_frame;
} Fde;

typedef struct {
    const char *path;
    const uint8_t *file;
    size_t file_bytes;
    uint64_t identity[2];
    uint64_t lowest, highest;   /* whole pages */
    bool is_static;             /* an executable without an interpreter */
    bool has_text_relocations;
    Segment *segments;
    size_t n_segments;
    Range *code;                /* executable sections, sorted; segments, if it has none */
    size_t n_code;
    Range *stubs;               /* .plt and its kin, sorted */
    size_t n_stubs;
    Function *functions;        /* sorted, not overlapping */
    size_t n_functions;
    uint64_t *entries;          /* sorted: starts of functions that were dropped, dynamic symbols
                                   inside functions, DT_INIT, DT_FINI, e_entry */
    size_t n_entries;
    uint64_t *pointers;         /* sorted: addresses in code that relocations (RELATIVE of RELA and
                                   of RELR, 64 bit symbols of this module) put into data */
    size_t n_pointers;
    Range *relocated;           /* sorted by start: {place in data, the address put there} */
    size_t n_relocated;
    Import *imports;            /* sorted by slot */
    size_t n_imports;
    const char *strings;        /* of names; offset 0 is "" */
    const char *frames_of;      /* whose runtime looks return addresses up; NULL: nobody's */
    /* private */
    Fde *fdes;                  /* sorted by start */
    size_t n_fdes;
    Range *named;               /* sorted: {start, offset in `strings`} of symbols of functions */
    size_t n_named;
    Array owned[10];
} Module;

#define NOT_OPENED "it cannot be opened"

/* NULL, and a reason in plain English, if it cannot be read or is not for x86-64. The file stays
   mapped until module_close. */
const char *module_open(Module *module, const char *path);
void module_close(Module *module);

/* `n` bytes at a vaddr, or NULL if they are not all in the file. */
const uint8_t *module_bytes(const Module *module, uint64_t address, size_t n);
/* All that the file has from a vaddr to the end of its segment, or NULL. */
const uint8_t *module_rest(const Module *module, uint64_t address, size_t *n);
bool module_is_code(const Module *module, uint64_t address);
/* Whether there are stubs of the linker from `start` up to `end`. */
bool module_has_stubs(const Module *module, uint64_t start, uint64_t end);
/* The function that holds an address, or NULL. */
const Function *module_function_at(const Module *module, uint64_t address);
/* The symbol of another module that relocation puts at a place in data, or NULL. */
const Import *module_import_at(const Module *module, uint64_t place);
/* What relocation puts at a place in data, or what the file has there (8 bytes). */
bool module_word(const Module *module, uint64_t place, uint64_t *value);

#endif
