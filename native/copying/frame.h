/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of .eh_frame. */
#ifndef RIDGEPOINT_FRAME_H
#define RIDGEPOINT_FRAME_H

#include "reader.h"

/* What is common to many functions (a CIE). */
typedef struct {
    uint64_t address;
    bool has_augmentation; /* of known letters, with its length */
    bool is_signal_frame;
    uint8_t code_encoding, lsda_encoding; /* of pointers to code; of pointers to exception tables */
    uint8_t personality_encoding;
    uint64_t personality;  /* 0: none */
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register;
    Reader program;        /* its initial instructions */
} Cie;

/* What is said of one function (an FDE). */
typedef struct {
    uint64_t start, end;
    uint64_t lsda;         /* 0: none */
    Reader program;
} Frame;

/* False if it is damaged, or of a form that is not known. */
bool frame_read_cie(const Module *module, uint64_t address, Cie *cie);
/* The FDE at an address. `cie` is filled unless it is that of the FDE already (address 0: none). */
bool frame_read(const Module *module, uint64_t address, Cie *cie, Frame *frame);

/* The entry at a reader: its content, and the vaddr of its CIE (of a CIE 0). False at the end. */
bool frame_next(Reader *reader, Reader *content, uint64_t *cie);

/* Add all of a module to `fdes` (Fde), in no order. The header is the vaddr of .eh_frame_hdr, or 0;
   the section is .eh_frame, or {0, 0}. */
void frame_find_all(const Module *module, uint64_t header, Range section, Array *fdes);

#endif
