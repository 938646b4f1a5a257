/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the copying engine which line of Python each thread goes to, at the interpreter's events.
 *
 * The interpreter is asked for them when it begins to run what it was started for: an audit hook
 * sees that. A line holds what is done below it until the thread goes to another line of a user's
 * file: at the event of that line, when a function returns, or is called and goes on.
 */
#define _GNU_SOURCE
#include "lines.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BEGINS UINT64_C(0x52500002) /* of native/copying/loader_regions.c */
#define MOST_TRACED 1024u                /* a power of two, and half of it is used at most */
#define CACHED 4096u                     /* a power of two */
#define NAME_BYTES 8
#define CALLED 0 /* PyTrace_CALL */
#define LINE 2
#define RETURNED 3

typedef int (*TraceFunction)(void *, void *, int, void *);

/* PyMethodDef */
typedef struct {
    const char *name;
    void *(*function)(void *, void *);
    int flags;
    const char *text;
} Method;

static struct {
    void (*set_trace)(TraceFunction, void *);
    int (*add_hook)(int (*)(const char *, void *, void *), void *);
    void *(*modules)(void);
    void *(*item)(void *, const char *);
    void *(*call_method)(void *, const char *, const char *, ...);
    void *(*new_function)(Method *, void *, void *);
    void *(*build)(const char *, ...);
    void (*clear_error)(void);
    int (*holds_lock)(void);
    void (*request)(uint64_t *);
} python;

/* A line that is counted apart; all others are counted together, as the line "0". */
typedef struct {
    uint32_t file, line, number;
} Traced;

/* What is known of a spot. */
typedef struct {
    Spot spot;
    uint32_t row;    /* 1 + its place in the table; 0: none */
    uint32_t number; /* 0: in no user's file */
} Place;

static LineTable *table;
static const char *folder;
static Traced traced[MOST_TRACED];
static char names[MOST_TRACED][NAME_BYTES];
static uint64_t most_events, n_events;
static bool has_begun, has_stopped;
static __thread uint32_t now __attribute__((tls_model("initial-exec"))); /* 0: in no line */

static uint32_t slot_of(uint32_t file, uint32_t line) {
    uint32_t slot = (file * 40503u + line * 2654435761u) % MOST_TRACED;
    while (traced[slot].file && (traced[slot].file != file || traced[slot].line != line)) {
        slot = (slot + 1) % MOST_TRACED;
    }
    return slot;
}

/* 1: of the user, but not counted apart; else 1 + the place of a line in the list. */
static uint32_t number_of(Line line) {
    const Traced *found = &traced[slot_of(line.file, line.line)];
    return found->file ? found->number : 1;
}

static void tell(uint32_t number) {
    uint64_t words[6] = {LINE_BEGINS, (uint64_t)(number ? names[number] : "")};
    now = number;
    python.request(words);
}

static void go_to(uint32_t number) {
    if (number != now) {
        tell(number);
    }
}

/* Of one frame. What was found once holds as long as the same code has the same lines. */
static const Place *place_of(const uint8_t *frame) {
    static Place places[CACHED]; /* guarded by the interpreter's lock, which events hold */
    Spot spot;
    if (!frame_spot(frame, &spot)) {
        return NULL;
    }
    Place *place = &places[(uintptr_t)spot.instruction >> 1 & (CACHED - 1)];
    if (place->spot.instruction != spot.instruction || place->spot.code != spot.code
        || place->spot.line_table != spot.line_table) {
        const Line line = frame_line(table, frame);
        *place = (Place){spot, 0, 0};
        if (line.file) {
            const LineRow *row = table_row(table, line.file, line.line);
            place->row = row ? (uint32_t)(row - table->rows) + 1 : 0;
            place->number = number_of(line);
        }
    }
    return place->number ? place : NULL;
}

/* The line of the innermost user's frame, from one on. */
static uint32_t number_below(const uint8_t *frame) {
    for (int depth = 0; frame && depth < MOST_FRAMES; depth++) {
        const Place *place = place_of(frame);
        if (place) {
            return place->number;
        }
        frame = frame_previous(frame);
    }
    return 0;
}

static void stop(void) {
    has_stopped = true;
    table->refusal = TOO_MANY;
}

static int event(void *self, void *python_frame, int what, void *argument) {
    (void)self;
    (void)python_frame;
    (void)argument;
    if (what != LINE && what != CALLED && what != RETURNED) {
        return 0;
    }
    if (has_stopped) {
        go_to(0);
        return 0;
    }
    const uint8_t *frame = frame_current(frames_state());
    const Place *place = frame ? place_of(frame) : NULL;
    if (!place) {
        return 0; /* an installed file's: it is below a line already */
    }
    if (what == RETURNED) {
        go_to(number_below(frame_previous(frame)));
        return 0;
    }
    if (what == LINE) {
        if (__atomic_add_fetch(&n_events, 1, __ATOMIC_RELAXED) > most_events) {
            stop();
            return 0;
        }
        if (place->row) {
            __atomic_add_fetch(&table->rows[place->row - 1].samples, 1, __ATOMIC_RELAXED);
        }
    }
    go_to(place->number);
    return 0;
}

/* ---- where it begins ---- */

/* What threading calls in each new thread, in place of a function for sys.settrace. It has to know
   that before it begins one: not all versions have an event for it. */
static void *thread_begins(void *self, void *arguments) {
    (void)self;
    (void)arguments;
    tell(0); /* that it is a thread of Python */
    python.set_trace(event, NULL);
    return python.build(""); /* None */
}

void trace_new_threads(void) {
    static Method method = {"ridgepoint_lines", thread_begins, 1 /* METH_VARARGS */, NULL};
    static void *function;
    if (!has_begun || !python.holds_lock()) {
        return; /* a library's own thread, of which Python knows nothing */
    }
    void *threading = python.item(python.modules(), "threading");
    if (threading && !function && (function = python.new_function(&method, NULL, NULL))) {
        if (!python.call_method(threading, "settrace", "O", function)) {
            python.clear_error();
        }
    }
}

static int hook(const char *name, void *arguments, void *data) {
    (void)arguments;
    (void)data;
    if (!has_begun && !strncmp(name, "cpython.run_", 12)) {
        has_begun = true;
        python.set_trace(event, NULL);
    }
    return 0;
}

/* In the child of a fork: it counts its own events. */
static void forked(void) {
    LineTable *made = table_follow(folder, table);
    if (made) {
        made->refusal = table->refusal;
        table = made;
    }
}

/* A number of events, and lines of a number, a blank, and a path. */
static bool read_list(const char *path) {
    char text[FILE_BYTES + 32];
    unsigned number = 1;
    FILE *file = fopen(path, "re");
    if (!file || !fgets(text, sizeof text, file)) {
        return false;
    }
    most_events = strtoull(text, NULL, 10);
    while (fgets(text, sizeof text, file) && number < MOST_TRACED / 2) {
        char *at = NULL;
        const uint32_t line = (uint32_t)strtoul(text, &at, 10);
        text[strcspn(text, "\n")] = 0;
        const uint32_t of = *at ? table_file(table, at + 1) : 0;
        number++;
        snprintf(names[number], NAME_BYTES, "%u", number - 1);
        if (of) {
            traced[slot_of(of, line)] = (Traced){of, line, number};
        }
    }
    snprintf(names[1], NAME_BYTES, "0");
    fclose(file);
    return true;
}

static bool find_interpreter(void) {
    const struct {
        void *to;
        const char *name;
    } needed[] = {
        {&python.set_trace, "PyEval_SetTrace"},    {&python.add_hook, "PySys_AddAuditHook"},
        {&python.modules, "PyImport_GetModuleDict"}, {&python.item, "PyDict_GetItemString"},
        {&python.call_method, "PyObject_CallMethod"}, {&python.new_function, "PyCFunction_NewEx"},
        {&python.build, "Py_BuildValue"},          {&python.clear_error, "PyErr_Clear"},
        {&python.holds_lock, "PyGILState_Check"},  {&python.request, "ridgepoint_native_request"},
    };
    for (unsigned i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (!(*(void **)needed[i].to = dlsym(RTLD_DEFAULT, needed[i].name))) {
            return false;
        }
    }
    return true;
}

void trace_begin(const char *own_folder, const char *list) {
    uint64_t version = 0;
    folder = own_folder;
    table = table_make(folder);
    if (!table) {
        return;
    }
    table->refusal = frames_begin(&version);
    table->version = version;
    if (table->refusal == KNOWN && !(find_interpreter() && read_list(list))) {
        table->refusal = NOT_COUNTED;
    }
    if (table->refusal == KNOWN) {
        frames_read_directly();
        pthread_atfork(NULL, NULL, forked);
        python.add_hook(hook, NULL);
    }
}
