/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a module, and the file of its copy. */
#include "loader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "identity.h"

bool file_map(MappedFile *file, const char *path) {
    struct stat status;
    *file = (MappedFile){.descriptor = call_open(path, O_RDONLY)};
    if (file->descriptor < 0) {
        return false;
    }
    if (!kernel(SYS_fstat, (uint64_t)file->descriptor, (uint64_t)&status, 0, 0, 0, 0)
        && status.st_size > 0) {
        file->n = (uint64_t)status.st_size;
        file->bytes = call_map(place_far(file->n), file->n, PROT_READ, MAP_PRIVATE,
                               file->descriptor, 0);
    }
    if (!file->bytes) {
        file_unmap(file);
    }
    return file->bytes != NULL;
}

void file_unmap(MappedFile *file) {
    if (file->bytes) {
        kernel(SYS_munmap, (uint64_t)file->bytes, file->n, 0, 0, 0, 0);
    }
    call_close(file->descriptor);
    *file = (MappedFile){.descriptor = -1};
}

/* Where it really is, whatever the program calls it, or the path as it was given. */
void file_real_path(const MappedFile *file, const char *path, char *real, size_t room) {
    char link[64];
    size_t n = text_add(link, 0, sizeof link, "/proc/self/fd/");
    text_add_number(link, n, sizeof link, (uint64_t)file->descriptor, 10, 1);
    const int64_t length = kernel(SYS_readlinkat, (uint64_t)AT_FDCWD, (uint64_t)link,
                                       (uint64_t)real, room - 1, 0, 0);
    if (length > 0) {
        real[length] = 0;
    } else {
        text_add(real, 0, room, path);
    }
}

/* ---- a module without a build id ---- */

#define OLD_SECONDS 1 /* what is changed twice within a tick of the clock has one time for both */

/* Which file in the folder says what the identity of this one is: another if it was changed or
   replaced. False: its times do not tell. */
static bool name_of_known(const MappedFile *file, char *path, size_t room) {
    struct stat status;
    int64_t now[2] = {0, 0};
    kernel(SYS_clock_gettime, CLOCK_REALTIME, (uint64_t)now, 0, 0, 0, 0);
    if (kernel(SYS_fstat, (uint64_t)file->descriptor, (uint64_t)&status, 0, 0, 0, 0)
        || now[0] - status.st_ctim.tv_sec <= OLD_SECONDS) {
        return false;
    }
    const uint64_t numbers[] = {
        status.st_dev, status.st_ino, file->n, (uint64_t)status.st_mtim.tv_sec,
        (uint64_t)status.st_mtim.tv_nsec, (uint64_t)status.st_ctim.tv_sec,
        (uint64_t)status.st_ctim.tv_nsec};
    uint64_t name[2];
    identity_of_content((const uint8_t *)numbers, sizeof numbers, name);
    size_t n = text_add(path, 0, room, arena_text(process.arena->folder_name));
    n = text_add(path, n, room, "/");
    n = text_add_number(path, n, room, name[0], 16, 16);
    n = text_add_number(path, n, room, name[1], 16, 16);
    text_add(path, n, room, ".identity");
    return true;
}

/* To read all of a library at each start takes longer than all else. */
void file_identity(const MappedFile *file, uint64_t identity[2]) {
    char path[4096];
    const bool can_be_known = name_of_known(file, path, sizeof path);
    int64_t known = can_be_known ? call_open(path, O_RDONLY) : -1;
    const bool is_known = known >= 0
        && kernel(SYS_read, (uint64_t)known, (uint64_t)identity, 16, 0, 0, 0) == 16;
    call_close(known);
    if (is_known) {
        return;
    }
    identity_of_content(file->bytes, file->n, identity);
    known = can_be_known ? call_open(path, O_WRONLY | O_CREAT | O_TRUNC) : -1;
    if (known >= 0) {
        kernel(SYS_write, (uint64_t)known, (uint64_t)identity, 16, 0, 0, 0);
        call_close(known);
    }
}

/* ---- the file of a copy ---- */

static const char *kind_name(void) {
    const uint64_t options = process.arena->options;
    if (process.arena->function_name) {
        return options & OPTION_BURSTS    ? "selecting-both"
             : options & OPTION_TRAFFIC ? "selecting-recording"
                                        : "selecting";
    }
    return options & OPTION_BURSTS ? "both" : options & OPTION_TRAFFIC ? "recording" : "counting";
}

static bool section_fits(const CopyHeader *copy, SectionKind kind, uint64_t item_bytes) {
    const Section *section = &copy->sections[kind];
    return section->n <= copy->file_bytes && section->at <= copy->file_bytes
        && section->n * item_bytes <= copy->file_bytes - section->at && !(section->at & 3);
}

static bool is_sound(const MappedFile *file, const uint64_t identity[2]) {
    const CopyHeader *copy = (const CopyHeader *)file->bytes;
    return file->n >= sizeof *copy && !memcmp(copy->magic, COPY_MAGIC, 8)
        && copy->file_bytes == file->n && copy->identity[0] == identity[0]
        && copy->identity[1] == identity[1] && section_fits(copy, SECTION_CODE, 1)
        && section_fits(copy, SECTION_OUTWARD, 4) && section_fits(copy, SECTION_COUNTERS, 4)
        && section_fits(copy, SECTION_ANCHORS, sizeof(Anchor))
        && section_fits(copy, SECTION_ROWS, sizeof(Row))
        && section_fits(copy, SECTION_PLACES, sizeof(Place))
        && section_fits(copy, SECTION_TURNS, sizeof(LoopTurn))
        && section_fits(copy, SECTION_RECORDING, sizeof(Recording))
        && section_fits(copy, SECTION_FUNCTIONS, sizeof(NamedFunction))
        && section_fits(copy, SECTION_NAMES, 1)
        && section_fits(copy, SECTION_TOWARD, 4) && section_fits(copy, SECTION_ABSOLUTE, 4)
        && copy->sections[SECTION_CODE].n >= HOOKS_BYTES
        && copy->sections[SECTION_CODE].n < UINT64_C(0x70000000)
        && copy->eh_frame_hdr < copy->sections[SECTION_CODE].n;
}

/* It stays mapped for as long as the module is there. */
static const CopyHeader *open_copy(const char *path, const uint64_t identity[2],
                                   int64_t *descriptor, Reason *reason) {
    MappedFile file;
    *reason = REASON_NO_COPY;
    if (!file_map(&file, path)) {
        return NULL;
    }
    if (is_sound(&file, identity)) {
        *descriptor = file.descriptor;
        return (const CopyHeader *)file.bytes;
    }
    *reason = REASON_DAMAGED;
    file_unmap(&file);
    return NULL;
}

static bool is_made(const char *module_path) {
    const char *folder = arena_text(process.arena->folder_name);
    return text_begins(module_path, folder)
        && text_begins(module_path + text_length(folder), "/made-");
}

/* Copies of code made at run time begin with `made-` as their files do: they do not grow old. */
static void copy_path_of(const char *module_path, const uint64_t identity[2], char *path,
                         size_t room) {
    const char *folder = arena_text(process.arena->folder_name);
    size_t n = text_add(path, 0, room, folder);
    n = text_add(path, n, room, is_made(module_path) ? "/made-" : "/");
    n = text_add_number(path, n, room, identity[0], 16, 16);
    n = text_add_number(path, n, room, identity[1], 16, 16);
    n = text_add(path, n, room, "-");
    n = text_add(path, n, room, kind_name());
    text_add(path, n, room, ".copy");
}

/* A module that the copier refuses is not tried by every process anew: its reason is kept. */
static bool was_refused(const char *copy_path, char *message, size_t room) {
    char path[4096];
    Array content;
    const size_t n = text_add(path, 0, sizeof path, copy_path);
    text_add(path, n, sizeof path, ".refused");
    if (!call_read_all(path, &content)) {
        return false;
    }
    text_add(message, 0, room, (const char *)content.items);
    array_end(&content);
    return true;
}

static void note_refusal(const char *copy_path, const char *message) {
    char path[4096];
    const size_t n = text_add(path, 0, sizeof path, copy_path);
    text_add(path, n, sizeof path, ".refused");
    const int64_t file = call_open(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (file >= 0) {
        kernel(SYS_write, (uint64_t)file, (uint64_t)message, text_length(message), 0, 0, 0);
        call_close(file);
    }
}

/* Code made at run time is another in each run, and has counters that are given in turn. */
static const char *plan_of(const char *module_path, char *path, size_t room) {
    const size_t n = text_add(path, 0, room, arena_text(process.arena->folder_name));
    text_add(path, n, room, "/counters");
    return is_made(module_path) ? NULL : path;
}

const CopyHeader *copy_find(const char *module_path, const uint64_t identity[2], char *copy_path,
                            size_t room, int64_t *file, Reason *reason, char *message,
                            size_t message_room) {
    char plan[4096];
    copy_path_of(module_path, identity, copy_path, room);
    const CopyHeader *copy = open_copy(copy_path, identity, file, reason);
    if (copy || is_quiet || was_refused(copy_path, message, message_room)) {
        return copy;
    }
    const int64_t status =
        copier_run(module_path, kind_name(), copy_path, plan_of(module_path, plan, sizeof plan),
                   message, message_room);
    if (status == 1) {
        note_refusal(copy_path, message);
    }
    if (!status) {
        copy = open_copy(copy_path, identity, file, reason);
    }
    return copy;
}
