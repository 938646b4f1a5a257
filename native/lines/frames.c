/* SPDX-License-Identifier: Apache-2.0 */
/* Which line of the user's files a thread is in or below, read from the interpreter's memory.
 *
 * A handler may interrupt the interpreter anywhere, so that nothing of it may be called and any
 * pointer may be stale: all is read through the kernel, which refuses what is not there.
 */
#define _GNU_SOURCE
#include "lines.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECE 256u
#define CACHED 1024u /* a power of two */

/* Offsets of the interpreter's structures, x86-64; the same in all releases of a minor version
   (Include/internal/pycore_frame.h, pycore_code.h, cpython/pystate.h, cpython/unicodeobject.h). */
typedef struct {
    uint32_t state_frame;  /* in a thread's state: of the current frame, or of what has it */
    int32_t frame_in_c;    /* >= 0: the current frame is at this offset behind state_frame */
    uint32_t code, previous, instruction;                /* in a frame */
    uint32_t file, line, table, bytes;                   /* in a code object */
    uint32_t ascii, compact;                             /* where a string's characters begin */
} Layout;

static const Layout layouts[] = {
    [11] = {56, 8, 32, 48, 56, 112, 72, 136, 184, 48, 72},
    [12] = {56, 0, 0, 8, 56, 112, 68, 136, 192, 40, 56},
};
#define FIRST_TOLD 13u /* from here on the interpreter tells its layout */
#define LAST_KNOWN 14u
#define TOLD_WORDS 96u

static Layout layout;
static const void *type_of_code;
static void *(*state_here)(void);
static enum { THROUGH_KERNEL, AFTER_ASKING, DIRECTLY } reads;
static char first_folder[FILE_BYTES]; /* where the program began: it may go elsewhere */

/* Asks the kernel for a change of signals that there is none of: it reads the set first, says
   EFAULT where it cannot, and else EINVAL. No sandbox forbids that call. Memory that another
   thread gives back right then is read all the same: that is as far as one gets without help. */
static bool is_there(const void *from, size_t n) {
    const int before = errno;
    bool is_mapped = true;
    for (uintptr_t at = (uintptr_t)from & ~7ul; is_mapped && at < (uintptr_t)from + n;
         at = (at | 4095) + 1) {
        is_mapped = !(syscall(SYS_rt_sigprocmask, ~0, at, NULL, 8) && errno == EFAULT);
    }
    errno = before;
    return is_mapped;
}

bool read_safely(void *to, const void *from, size_t n) {
    const struct iovec here = {to, n}, there = {(void *)from, n};
    if ((uintptr_t)from < 4096) {
        return false;
    }
    if (reads != THROUGH_KERNEL) {
        if (reads == AFTER_ASKING && !is_there(from, n)) {
            return false;
        }
        memcpy(to, from, n);
        return true;
    }
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* Reads the beginning of _PyRuntime, which is there for debuggers: blocks of offsets, one for each
   structure, whose first members are where they always were. Blocks grow from version to version,
   so that those of threads, frames and code are looked for; false: they are not as expected. */
static bool layout_told(const uint64_t *runtime) {
    unsigned frame = 9, code;
    while (frame < TOLD_WORDS / 2
           && (runtime[frame + 1] != 8 || runtime[frame + 2] || runtime[frame + 3] != 56
               || runtime[frame - 8] || runtime[frame - 7] != 8 || runtime[frame - 6] != 16)) {
        frame++; /* size, previous, executable, instruction; before it a thread's: size, prev, ... */
    }
    for (code = frame + 4; code < TOLD_WORDS - 10; code++) {
        const uint64_t file = runtime[code + 1]; /* size, filename, name, qualname, linetable */
        if (file && runtime[code + 2] == file + 8 && runtime[code + 3] == file + 16
            && runtime[code + 4] == file + 24) {
            break;
        }
    }
    if (frame == TOLD_WORDS / 2 || code == TOLD_WORDS - 10) {
        return false;
    }
    layout = (Layout){(uint32_t)runtime[frame - 5], -1, 0, 8, 56, (uint32_t)runtime[code + 1],
                      (uint32_t)runtime[code + 5], (uint32_t)runtime[code + 4],
                      (uint32_t)runtime[code + 9], 40, 56};
    return true;
}

Refusal frames_begin(uint64_t *version) {
    const unsigned long *known = dlsym(RTLD_DEFAULT, "Py_Version");
    type_of_code = dlsym(RTLD_DEFAULT, "PyCode_Type");
    *(void **)&state_here = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    *version = known ? *known : 0;
    const uint64_t minor = *version >> 16 & 255;
    if (*version >> 24 != 3 || minor < 11 || minor > LAST_KNOWN || !type_of_code || !state_here) {
        return OTHER_VERSION;
    }
    const uint64_t *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
    if (minor >= FIRST_TOLD && (!runtime || runtime[2])) {
        return FREE_THREADED;
    }
    if (!first_folder[0] && !getcwd(first_folder, sizeof first_folder)) {
        first_folder[0] = 0;
    }
    uint64_t word = 0;
    if (minor < FIRST_TOLD) {
        layout = layouts[minor];
    } else if (!layout_told(runtime)) {
        return OTHER_VERSION;
    }
    reads = THROUGH_KERNEL;
    if (!read_safely(&word, known, sizeof word)) {
        reads = AFTER_ASKING; /* containers may forbid to read memory through the kernel */
    }
    return KNOWN;
}

void frames_read_directly(void) {
    reads = DIRECTLY;
}

const void *frames_state(void) {
    return state_here();
}

/* ---- lines of code ---- */

/* Bytes that are read piece by piece: a handler has little stack, and no memory of its own. */
typedef struct {
    const uint8_t *from;
    uint64_t left; /* that were not fetched yet */
    uint32_t at, n;
    uint8_t bytes[PIECE];
} Reader;

/* The next byte, without going on; -1: there is none. */
static int peek(Reader *reader) {
    if (reader->at == reader->n) {
        const uint64_t n = reader->left < PIECE ? reader->left : PIECE;
        if (!n || !read_safely(reader->bytes, reader->from, n)) {
            return -1;
        }
        reader->from += n;
        reader->left -= n;
        reader->at = 0;
        reader->n = (uint32_t)n;
    }
    return reader->bytes[reader->at];
}

static uint64_t number(Reader *reader) {
    uint64_t value = 0;
    int byte;
    for (unsigned shift = 0; shift < 64 && (byte = peek(reader)) >= 0; shift += 6) {
        reader->at++;
        value |= (uint64_t)(byte & 63) << shift;
        if (!(byte & 64)) {
            break;
        }
    }
    return value;
}

/* Objects/locations.md of CPython: entries of a first byte with code and length, and numbers. */
static int64_t line_in(Reader *reader, int64_t line, uint64_t unit) {
    uint64_t units = 0;
    int byte;
    while ((byte = peek(reader)) >= 0) {
        const unsigned code = byte >> 3 & 15;
        units += (byte & 7u) + 1;
        reader->at++;
        if (code == 13 || code == 14) {
            const uint64_t change = number(reader);
            line += change & 1 ? -(int64_t)(change >> 1) : (int64_t)(change >> 1);
        } else if (code >= 10 && code < 13) {
            line += code - 10;
        }
        if (unit < units) {
            return code == 15 ? 0 : line;
        }
        while ((byte = peek(reader)) >= 0 && !(byte & 128)) {
            reader->at++;
        }
    }
    return 0;
}

static uint32_t line_of(const uint8_t *code, const uint8_t *instruction) {
    const uint8_t *table = NULL;
    int32_t first = 0;
    Reader reader;
    reader.at = reader.n = 0;
    if (!read_safely(&table, code + layout.table, 8)
        || !read_safely(&first, code + layout.line, 4)
        || !read_safely(&reader.left, table + 16, 8)) {
        return 0;
    }
    reader.from = table + 32;
    const int64_t offset = instruction - (code + layout.bytes);
    const uint64_t unit = offset < 0 ? 0 : (uint64_t)offset / 2; /* before its first: beginning */
    const int64_t line = line_in(&reader, first, unit);
    return line > 0 && line < INT32_MAX ? (uint32_t)line : 0;
}

/* ---- files ---- */

/* Characters of 1, 2 or 4 bytes as UTF-8; false: too long. */
static bool as_utf8(const uint8_t *from, unsigned width, uint64_t n, char *to) {
    size_t used = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t c = 0;
        memcpy(&c, from + i * width, width);
        if (used + 4 >= FILE_BYTES) {
            return false;
        }
        if (c < 0x80) {
            to[used++] = (char)c;
        } else {
            const unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
            to[used++] = (char)((more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0) | c >> 6 * more);
            for (unsigned k = more; k--;) {
                to[used++] = (char)(0x80 | (c >> 6 * k & 63));
            }
        }
    }
    to[used] = 0;
    return true;
}

/* Puts that folder before a path that begins nowhere; what is no path stays. */
static bool make_absolute(char path[FILE_BYTES]) {
    const size_t n = strlen(first_folder), own = strlen(path);
    if (path[0] == '/' || path[0] == '<' || !path[0]) {
        return true;
    }
    if (!n || n + own + 2 > FILE_BYTES) {
        return false;
    }
    memmove(path + n + 1, path, own + 1);
    memcpy(path, first_folder, n);
    path[n] = '/';
    return true;
}

static bool file_name(const uint8_t *text, char to[FILE_BYTES]) {
    uint8_t characters[4 * FILE_BYTES];
    uint64_t n = 0;
    uint32_t state = 0;
    if (!read_safely(&n, text + 16, 8) || !read_safely(&state, text + 32, 4)) {
        return false;
    }
    state >>= state >> 2 & 7 ? 2 : 16; /* behind two bits or, in later versions, sixteen */
    const unsigned kind = state & 7, is_compact = state >> 3 & 1, is_ascii = state >> 4 & 1;
    return is_compact && (kind == 1 || kind == 2 || kind == 4) && n < FILE_BYTES
        && read_safely(characters, text + (is_ascii ? layout.ascii : layout.compact), n * kind)
        && as_utf8(characters, kind, n, to) && make_absolute(to);
}

/* A user's file: neither installed nor the interpreter's own, and no text that was executed. */
static bool is_users(const char *path) {
    return path[0] && path[0] != '<' && !strstr(path, "/site-packages/")
        && !strstr(path, "/dist-packages/") && !strstr(path, "/lib/python3.")
        && !strstr(path, "/lib64/python3.");
}

typedef struct {
    uint64_t is_busy; /* another thread's handler reads or writes it */
    const void *code, *text;
    uint32_t file; /* 0: none of the user's */
} Known;

static uint32_t file_named(LineTable *table, const uint8_t *text) {
    char path[FILE_BYTES];
    return file_name(text, path) && is_users(path) ? table_file(table, path) : 0;
}

static uint32_t file_of(LineTable *table, const uint8_t *code) {
    static Known known[CACHED];
    const uint8_t *text = NULL;
    if (!read_safely(&text, code + layout.file, 8)) {
        return 0;
    }
    Known *slot = &known[(uint64_t)code >> 4 & (CACHED - 1)];
    if (__atomic_exchange_n(&slot->is_busy, 1, __ATOMIC_ACQUIRE)) {
        return file_named(table, text);
    }
    if (slot->code != code || slot->text != text) {
        slot->file = file_named(table, text);
        slot->code = code;
        slot->text = text;
    }
    const uint32_t file = slot->file;
    __atomic_store_n(&slot->is_busy, 0, __ATOMIC_RELEASE);
    return file;
}

/* ---- frames ---- */

const uint8_t *frame_current(const void *state) {
    const uint8_t *frame = NULL;
    if (!state || !read_safely(&frame, (const uint8_t *)state + layout.state_frame, 8)) {
        return NULL;
    }
    if (layout.frame_in_c >= 0 && !read_safely(&frame, frame + layout.frame_in_c, 8)) {
        return NULL;
    }
    return frame;
}

const uint8_t *frame_previous(const uint8_t *frame) {
    const uint8_t *previous = NULL;
    return read_safely(&previous, frame + layout.previous, 8) ? previous : NULL;
}

/* The lowest bits tell who owns the reference, from 3.14 on. */
static const uint8_t *code_in(const uint8_t *const *words) {
    return (const uint8_t *)((uintptr_t)words[layout.code / 8] & ~UINT64_C(7));
}

bool frame_spot(const uint8_t *frame, Spot *spot) {
    const uint8_t *const *words = (const uint8_t *const *)frame;
    const uint8_t *code = code_in(words);
    if (!code || *(const void *const *)(code + 8) != type_of_code) {
        return false;
    }
    *spot = (Spot){code, *(const void *const *)(code + layout.table),
                   words[layout.instruction / 8]};
    return true;
}

Line frame_line(LineTable *table, const uint8_t *frame) {
    const uint8_t *words[8], *type = NULL;
    if (!read_safely(words, frame, sizeof words)) {
        return (Line){0, 0};
    }
    const uint8_t *code = code_in(words);
    if (!code || !read_safely(&type, code + 8, 8) || type != type_of_code) {
        return (Line){0, 0};
    }
    const uint32_t file = file_of(table, code);
    const uint32_t line = file ? line_of(code, words[layout.instruction / 8]) : 0;
    return (Line){line ? file : 0, line};
}

Line frames_line(LineTable *table, const void *state) {
    const uint8_t *frame = frame_current(state);
    for (int depth = 0; frame && depth < MOST_FRAMES; depth++) {
        const Line line = frame_line(table, frame);
        if (line.file) {
            return line;
        }
        frame = frame_previous(frame);
    }
    return (Line){0, 0};
}
