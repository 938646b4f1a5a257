/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that have to do with where code is: the copies are told of, or hidden. */
#define _GNU_SOURCE /* struct dl_phdr_info */
#include "loader.h"

#include <link.h>

/* ---- stubs, between the entry of a copied function and the rest of it ---- */

static void (*hook_for(EntryHook hook))(void) {
    switch (hook) {
    case ENTRY_FIND_OBJECT: return hook_find_object;
    case ENTRY_ITERATE_PHDR: return hook_iterate_phdr;
    case ENTRY_ADDR: return hook_addr;
    case ENTRY_GET_IP: return hook_get_ip;
    case ENTRY_GET_START: return hook_get_start;
    case ENTRY_CALLER: return hook_caller;
    case ENTRY_REGISTER_FRAME: return hook_register_frame;
    default: return NULL;
    }
}

/* movabs r11, rest; jmp [rip]; address of the hook; rest: */
bool entry_stub(EntryHook hook, uint8_t *stub, const uint8_t *entry) {
    void (*const to)(void) = hook_for(hook);
    const uint64_t rest = (uint64_t)stub + ENTRY_STUB_BYTES;
    static const uint8_t load[] = {0x49, 0xbb}, jump[] = {0xff, 0x25, 0, 0, 0, 0};
    if (!to) {
        return false;
    }
    memcpy(stub, load, 2);
    memcpy(stub + 2, &rest, 8);
    memcpy(stub + 10, jump, 6);
    memcpy(stub + 16, &to, 8);
    memcpy(stub + ENTRY_STUB_BYTES, entry, 9);
    return true;
}

/* ---- unwinding ---- */

/* As glibc's struct dl_find_object since 2.35. */
typedef struct {
    uint64_t flags, start, end, map, eh_frame_hdr;
} Found;

/* What counts of a copy, or what records, if it has both. */
typedef struct {
    uint64_t begin, end, eh_frame_hdr; /* offsets in the copy */
} CopyHalf;

static CopyHalf half_of(const Loaded *module, uint64_t address) {
    const CopyHeader *copy = module->copy;
    const Section *section = &copy->sections[SECTION_RECORDING];
    const Recording *recording = (const Recording *)((const uint8_t *)copy + section->at);
    if (!section->n) {
        return (CopyHalf){0, module->code_bytes, copy->eh_frame_hdr};
    }
    return address - (uint64_t)module->code < recording->begin
               ? (CopyHalf){0, recording->begin, copy->eh_frame_hdr}
               : (CopyHalf){recording->begin, module->code_bytes, recording->eh_frame_hdr};
}

uint64_t find_object(uint64_t address, Found *found) {
    const Loaded *module = loaded_with_copy_at(address);
    if (!module || !module->copy->eh_frame_hdr) {
        return 0;
    }
    const CopyHalf half = half_of(module, address);
    found->flags = 0;
    found->start = (uint64_t)module->code + half.begin;
    found->end = (uint64_t)module->code + half.end;
    found->map = module->map;
    found->eh_frame_hdr = (uint64_t)module->code + half.eh_frame_hdr;
    return 1;
}

typedef int (*Visitor)(struct dl_phdr_info *info, size_t bytes, void *data);
typedef int (*Iterate)(Visitor visitor, void *data);

typedef struct {
    Visitor visitor;
    void *data;
    struct dl_phdr_info last;
    size_t bytes;
} Visit;

static int visit(struct dl_phdr_info *info, size_t bytes, void *data) {
    Visit *here = data;
    here->last = *info;
    here->bytes = bytes;
    return here->visitor(info, bytes, here->data);
}

static int visit_half(const Visit *here, const Loaded *module, CopyHalf half) {
    const uint64_t hdr = half.eh_frame_hdr;
    const Elf64_Phdr headers[2] = {
        {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = half.begin, .p_paddr = half.begin,
         .p_filesz = half.end - half.begin, .p_memsz = half.end - half.begin, .p_align = 4096},
        {.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_vaddr = hdr, .p_paddr = hdr,
         .p_filesz = half.end - hdr, .p_memsz = half.end - hdr, .p_align = 4},
    };
    struct dl_phdr_info info = here->last; /* with its counts of changes */
    info.dlpi_addr = (uint64_t)module->code;
    info.dlpi_name = arena_text(arena_row(module->row)->path_name);
    info.dlpi_phdr = headers;
    info.dlpi_phnum = 2;
    info.dlpi_tls_modid = 0;
    info.dlpi_tls_data = NULL;
    return here->visitor(&info, here->bytes, here->data);
}

static int visit_copy(const Visit *here, const Loaded *module) {
    const CopyHalf half = half_of(module, (uint64_t)module->code);
    const int result = visit_half(here, module, half);
    return result || half.end == module->code_bytes
               ? result
               : visit_half(here, module, half_of(module, (uint64_t)module->code + half.end));
}

static int visit_others(struct dl_phdr_info *info, size_t bytes, void *data) {
    const Visit *here = data;
    return info->dlpi_addr == (uint64_t)__ehdr_start ? 0
                                                     : here->visitor(info, bytes, here->data);
}

/* dl_iterate_phdr. For unwinders copies follow the modules; others would wonder what these are, and what
   this library is. */
int iterate_phdr(Visitor visitor, void *data, Iterate original) {
    Visit here = {.visitor = visitor, .data = data};
    Loaded *asking = (Loaded *)loaded_at((uint64_t)visitor);
    if (asking && !module_may_unwind(asking)) {
        return original(visit_others, &here);
    }
    int result = original(visit, &here);
    for (uint64_t i = 0; !result && here.bytes && i < n_loaded; i++) {
        if (loaded[i].is_there && loaded[i].code && loaded[i].copy->eh_frame_hdr) {
            result = visit_copy(&here, &loaded[i]);
        }
    }
    return result;
}

/* ---- names ---- */

uint64_t original_address(uint64_t address) {
    const Loaded *module = loaded_with_copy_at(address);
    const uint64_t original = module ? loaded_original(module, address) : 0;
    return original ? original : address;
}

/* Whether the CPU compares return addresses with those of calls: none can be made up then. */
bool has_shadow_stack(void) {
    uint64_t pointer = 0;
    __asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a"(pointer)); /* rdsspq rax */
    return pointer != 0;
}

uint64_t return_in_original(uint64_t address) {
    if (has_shadow_stack()) {
        return 0;
    }
    const Loaded *module = loaded_with_copy_at(address);
    return module ? module->a_return : 0;
}
