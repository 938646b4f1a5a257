/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks where frames are: to go on there it needs the copy, to tell its name the original. */
#include "loader.h"

typedef enum {
    UNWINDS_UNKNOWN,
    UNWINDS_NOTHING,  /* it has no personality: it only looks at backtraces */
    UNWINDS_BY_IP,    /* by _Unwind_GetIP, like LLVM's: it must get addresses of copies */
    UNWINDS_OTHERWISE /* by _Unwind_GetIPInfo, like GCC's and Rust's: the other is for backtraces */
} Unwinds;

typedef uint64_t (*AskContext)(uint64_t context);

static Unwinds unwinds_of(uint64_t caller, AskContext asked) {
    Loaded *module = (Loaded *)loaded_with_copy_at(caller);
    module = module ? module : (Loaded *)loaded_at(caller);
    if (!module || module == loaded_with_copy_at((uint64_t)asked)) {
        return UNWINDS_BY_IP; /* nobody knows; it holds all of libgcc, and maybe personalities */
    }
    if (module->unwinds == UNWINDS_UNKNOWN) {
        module->unwinds = !module_imports(module, "_Unwind_SetIP") ? UNWINDS_NOTHING
            : module_imports(module, "_Unwind_GetIPInfo")          ? UNWINDS_OTHERWISE
                                                                   : UNWINDS_BY_IP;
    }
    return (Unwinds)module->unwinds;
}

/* _Unwind_GetIP, called from `caller`. */
uint64_t get_ip(uint64_t context, uint64_t caller, AskContext original) {
    const uint64_t address = original(context);
    const Loaded *module = loaded_with_copy_at(address);
    return !module || unwinds_of(caller, original) == UNWINDS_BY_IP ? address
                                                          : loaded_original_return(module, address);
}

/* _Unwind_GetRegionStart, which all personalities need as it is. */
uint64_t get_start(uint64_t context, uint64_t caller, AskContext original) {
    const uint64_t address = original(context);
    return unwinds_of(caller, original) == UNWINDS_NOTHING ? original_address(address) : address;
}

/* ---- dl_iterate_phdr ---- */

/* Whether a function of the module has a personality: a program without one catches nothing, and
   holds no unwinder of its own. Of a table of another form than usual nobody knows. */
static bool has_personality(const Loaded *module) {
    const uint8_t *header = (const uint8_t *)(module->bias + module->eh_frame_hdr);
    if (header[0] != 1 || header[1] != 0x1b) { /* where .eh_frame is, from here */
        return true;
    }
    int32_t distance;
    memcpy(&distance, header + 4, 4);
    const uint8_t *entry = header + 4 + distance;
    const uint8_t *end = (const uint8_t *)(module->bias + module->highest);
    for (uint32_t bytes, id; entry + 16 < end; entry += 4 + bytes) {
        memcpy(&bytes, entry, 4);
        memcpy(&id, entry + 4, 4);
        if (!bytes) {
            return false;
        }
        if (bytes >= 0xfffffff0) {
            return true;
        }
        if (!id && text_find((const char *)entry + 9, "P")) { /* of a CIE: its augmentation */
            return true;
        }
    }
    return false;
}

static bool holds_unwinder(const Loaded *module) {
    static const char *const known[] = {"libgcc_s", "libunwind", "libasan", "libtsan", "libubsan",
                                        "liblsan", "libhwasan"};
    const char *path = module->code ? arena_text(arena_row(module->row)->path_name) : "";
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (text_find(path, known[i])) {
            return true;
        }
    }
    /* One that needs another's unwinder has none. */
    return !module_imports(module, "_Unwind_Resume") && !module_imports(module, "_Unwind_Backtrace")
        && !module_imports(module, "_Unwind_RaiseException") && module->eh_frame_hdr
        && has_personality(module);
}

bool module_may_unwind(Loaded *module) {
    if (!module->asks_for_tables) {
        module->asks_for_tables = !module->code || holds_unwinder(module) ? 1 : 2;
    }
    return module->asks_for_tables == 1;
}
