/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tool as Valgrind sees it: options, requests, fork, exec, signals, exit. */
#include "engine.h"

#include "pattern.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_clreq.h"
#include "pub_tool_options.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* Requests of the program; native/include/ridgepoint.h makes them. */
enum {
    REQUEST_REGION_BEGIN = VG_USERREQ_TOOL_BASE('R', 'P'),
    REQUEST_REGION_END,
};

/* Of Valgrind's core: how code is translated. */
extern VexControl VG_(clo_vex_control);

#define MOST_NAME_BYTES 200
#define MOST_CPUS 4096

Options options = {.output = "ridgepoint.core.counts.%p",
                   .geometry = {{.line_bytes = 64, .n_cpus = 1}}};

void *allocate(SizeT bytes) {
    return VG_(calloc)("ridgepoint", 1, bytes);
}

void give_up(const HChar *why) {
    VG_(umsg)("ridgepoint: %s\n", why);
    VG_(exit)(1);
}

/* ---- options ---- */

/* Numbers divided by commas; returns how many, or -1. */
static Int numbers_of(const HChar *text, ULong *numbers, Int most) {
    Int n = 0;
    for (;;) {
        HChar *end;
        if (n == most || !VG_(isdigit)(*text)) {
            return -1;
        }
        numbers[n++] = VG_(strtoull10)(text, &end);
        if (*end == 0) {
            return n;
        }
        if (*end != ',') {
            return -1;
        }
        text = end + 1;
    }
}

static CacheShape shape_of(const ULong *numbers) {
    return (CacheShape){
        .size_bytes = numbers[0], .ways = numbers[1], .cpus = numbers[2] ? numbers[2] : 1};
}

/* LINE,CPUS, then size,ways,cpus of the first instruction cache and of each data cache. */
static Bool add_geometry(const HChar *text) {
    ULong numbers[2 + 3 * (1 + CACHE_MAX_LEVELS)];
    const Int n = numbers_of(text, numbers, sizeof numbers / sizeof *numbers);
    if (n < 8 || n % 3 != 2 || options.n_geometries == MAX_GEOMETRIES || numbers[1] < 1 ||
        numbers[1] > MOST_CPUS) {
        return False;
    }
    CacheGeometry *geometry = &options.geometry[options.n_geometries++];
    *geometry = (CacheGeometry){.line_bytes = numbers[0],
                                .n_cpus = numbers[1],
                                .n_levels = (n - 5) / 3,
                                .instruction = shape_of(numbers + 2)};
    for (UInt level = 0; level < geometry->n_levels; level++) {
        geometry->data[level] = shape_of(numbers + 5 + 3 * level);
    }
    return True;
}

static Bool take_option(const HChar *argument) {
    const HChar *text;
    if (VG_STR_CLO(argument, "--counts-file", options.output)) {
    } else if (VG_STR_CLO(argument, "--caches", text)) {
        if (!add_geometry(text)) {
            VG_(fmsg_bad_option)(argument, "LINE,CPUS, then SIZE,WAYS,CPUS of L1I, L1D, ...\n");
        }
    } else if (VG_BINT_CLO(argument, "--miss-curve", options.reuse_lines, 1024, 1 << 28)) {
    } else if (VG_STR_CLO(argument, "--region", options.region)) {
    } else if (VG_STR_CLO(argument, "--function", options.function)) {
        if (!pattern_is_valid(options.function)) {
            VG_(fmsg_bad_option)(argument, "no regular expression that is understood here\n");
        }
    } else if (VG_BOOL_CLO(argument, "--cold", options.cold)) {
    } else if (VG_BOOL_CLO(argument, "--all-threads", options.all_threads)) {
    } else {
        return False;
    }
    return True;
}

static void say_options(void) {
    VG_(printf)(
        "    --counts-file=FILE        where to write; %%p is the process, a number is added\n"
        "    --caches=LINE,CPUS,SIZE,WAYS,CPUS,...  simulate caches: L1I, L1D, L2, ...;\n"
        "                              given again: other caches in the same run\n"
        "    --miss-curve=LINES        misses over cache size; tracks LINES lines at most\n"
        "    --region=NAME             region that the miss curve and --cold are for\n"
        "    --function=PATTERN        functions that are regions of their own\n"
        "    --cold=no|yes             empty the caches when the region begins, and ends\n"
        "    --all-threads=no|yes      what any thread does while one is in the region counts\n");
}

static void say_debug_options(void) {
    VG_(printf)("    (none)\n");
}

/* ---- what the program does ---- */

static void thread_goes_on(ThreadId tid, ULong blocks_done) {
    thread_runs(tid);
}

static void thread_begins(ThreadId parent, ThreadId child) {
    thread_created(child);
}

static void signal_comes(ThreadId tid, Int number, Bool on_own_stack) {
    if (number != VKI_SIGSEGV && number != VKI_SIGBUS && number != VKI_SIGFPE) {
        return;
    }
    if (traced()) {
        trace_interrupted(VG_(get_IP)(tid));
    } else {
        segment_interrupted(VG_(get_IP)(tid));
    }
}

/* A name in the program's memory; 0 where there is none. */
static UInt region_name(UWord address) {
    HChar name[MOST_NAME_BYTES + 1];
    UInt n = 0;
    for (; n < MOST_NAME_BYTES; n++) {
        if (!VG_(am_is_valid_for_client)(address + n, 1, VKI_PROT_READ)) {
            return 0;
        }
        name[n] = ((const HChar *)address)[n];
        if (name[n] == 0) {
            break;
        }
        if ((UChar)name[n] < ' ' || name[n] == 127) {
            name[n] = '?';
        }
    }
    name[n] = 0;
    return n ? string_id(name) : 0;
}

static Bool take_request(ThreadId tid, UWord *arguments, UWord *result) {
    if (!VG_IS_TOOL_USERREQ('R', 'P', arguments[0])) {
        return False;
    }
    const UInt name = region_name(arguments[1]);
    *result = name != 0;
    if (name && arguments[0] == REQUEST_REGION_BEGIN) {
        region_begins(tid, name);
    } else if (name && arguments[0] == REQUEST_REGION_END) {
        region_ends(tid, name);
    }
    return True;
}

/* ---- fork, exec, begin and end ---- */

static void before_fork(ThreadId tid) {
    trace_replay();
}

/* The child has its parent's caches, warm as they are, and counts from nothing. */
static void in_child(ThreadId tid) {
    output_of_child();
    threads_of_child(tid);
    banks_forget_counts();
    trace_forget_counts();
}

static Bool is_exec(UInt call) {
#ifdef __NR_execveat
    if (call == __NR_execveat) {
        return True;
    }
#endif
    return call == __NR_execve;
}

/* Nothing of this process is left to speak of its counts once it is another program. */
static void before_call(ThreadId tid, UInt call, UWord *arguments, UInt n_arguments) {
    if (is_exec(call)) {
        trace_replay();
        write_output(WRITTEN_BEFORE_EXEC, 0);
        banks_forget_counts();
        trace_forget_counts();
    }
}

static void after_call(ThreadId tid, UInt call, UWord *arguments, UInt n_arguments, SysRes result) {
}

static void begin(void) {
    /* Else VEX looks beyond a conditional branch: of `a && b` it runs both, and would have
     * instructions of b counted that the program never reached. */
    VG_(clo_vex_control).guest_chase = False;
    output_begin();
    banks_begin();
    trace_begin();
    threads_begin();
    VG_(atfork)(before_fork, NULL, in_child);
}

static void end(Int status) {
    trace_replay();
    write_output(WRITTEN_AT_EXIT, status);
}

static void describe(void) {
    VG_(details_name)("ridgepoint");
    VG_(details_version)("1");
    VG_(details_description)("counts what a program does, and simulates caches");
    VG_(details_copyright_author)("The authors of Ridgepoint.");
    VG_(details_bug_reports_to)("the authors of Ridgepoint");
    VG_(details_avg_translation_sizeB)(600);
    VG_(basic_tool_funcs)(begin, instrument, end);
    VG_(needs_command_line_options)(take_option, say_options, say_debug_options);
    VG_(needs_client_requests)(take_request);
    VG_(needs_syscall_wrapper)(before_call, after_call);
    VG_(track_start_client_code)(thread_goes_on);
    VG_(track_pre_thread_ll_create)(thread_begins);
    VG_(track_pre_thread_ll_exit)(thread_ended);
    VG_(track_pre_deliver_signal)(signal_comes);
}

VG_DETERMINE_INTERFACE_VERSION(describe)
