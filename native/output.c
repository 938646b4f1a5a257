/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file that is written: all that was counted, in sections.
 *
 * A header (magic, version), then sections: a tag of four letters, the bytes of the section,
 * the section, zeros up to a multiple of 8. Little endian. The last section is TAIL: a file
 * without it was cut short.
 */
#include "engine.h"

#include "pub_tool_options.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* Of Valgrind's core. */
SysRes VG_(do_syscall)(UWord number, ULong, ULong, ULong, ULong, ULong, ULong, ULong, ULong);
Int VG_(safe_fd)(Int descriptor);

#define VERSION_OF_FORMAT 1
#define MOST_FILES_OF_A_PROCESS 100000
#define BUFFER_BYTES 65536
#define LIMIT_OF_FILE_SIZE 1 /* RLIMIT_FSIZE; not among what Valgrind's headers define */

/* ---- a file, written through a buffer ---- */

typedef struct {
    Int descriptor;
    Bool failed;
    UInt used;
    ULong section_bytes;
} Writer;

static UChar buffer[BUFFER_BYTES];

static void flush(Writer *writer) {
    UInt done = 0;
    while (done < writer->used && !writer->failed) {
        const Int n = VG_(write)(writer->descriptor, buffer + done, writer->used - done);
        writer->failed = n <= 0;
        done += n;
    }
    writer->used = 0;
}

static void put(Writer *writer, const void *bytes, SizeT n) {
    const UChar *from = bytes;
    writer->section_bytes += n;
    while (n > 0) {
        if (writer->used == BUFFER_BYTES) {
            flush(writer);
        }
        const UInt room = BUFFER_BYTES - writer->used;
        const UInt part = n < room ? n : room;
        VG_(memcpy)(buffer + writer->used, from, part);
        writer->used += part;
        from += part;
        n -= part;
    }
}

static void put_u32(Writer *writer, UInt value) {
    put(writer, &value, sizeof value);
}

static void put_u64(Writer *writer, ULong value) {
    put(writer, &value, sizeof value);
}

static void begin_section(Writer *writer, const HChar *tag, ULong bytes) {
    put(writer, tag, 4);
    put_u32(writer, 0);
    put_u64(writer, bytes);
    writer->section_bytes = 0;
}

static void end_section(Writer *writer) {
    while (writer->section_bytes % 8) {
        put(writer, "", 1);
    }
}

/* ---- sections ---- */

static Bool has_written;

static void put_process(Writer *writer, WhyWritten why, Int status) {
    begin_section(writer, "PROC", 8 * 8);
    put_u64(writer, VG_(getpid)());
    put_u64(writer, VG_(getppid)());
    put_u64(writer, why);
    put_u64(writer, status);
    put_u64(writer, threads_most());
    put_u64(writer, threads_started());
    put_u64(writer, has_written); /* it goes on after an exec that failed */
    put_u64(writer, 0);
    begin_section(writer, "GEOM", 2 * 4);
    put_u32(writer, options.n_geometries ? options.geometry[0].n_levels : 0);
    put_u32(writer, options.geometry[0].line_bytes);
}

static void put_strings(Writer *writer) {
    ULong bytes = 8;
    for (UInt i = 0; i < n_strings(); i++) {
        bytes += VG_(strlen)(string_of(i)) + 1;
    }
    begin_section(writer, "STRS", bytes);
    put_u32(writer, n_strings());
    put_u32(writer, 0);
    for (UInt i = 0; i < n_strings(); i++) {
        put(writer, string_of(i), VG_(strlen)(string_of(i)) + 1);
    }
    end_section(writer);
}

static void put_instructions(Writer *writer) {
    begin_section(writer, "INST", (ULong)n_instructions() * 48);
    for (UInt i = 0; i < n_instructions(); i++) {
        const Instruction *instruction = instruction_of(i);
        put_u64(writer, instruction->address);
        put_u64(writer, instruction->file_address);
        put_u32(writer, instruction->object);
        put_u32(writer, instruction->function);
        put_u32(writer, instruction->source);
        put_u32(writer, instruction->line);
        put(writer, &instruction->length, 1);
        put(writer, instruction->code, MAX_INSTRUCTION_BYTES);
    }
}

static void put_banks(Writer *writer) {
    ULong bytes = 4;
    const UInt *names;
    for (UInt i = 0; i < n_banks(); i++) {
        bytes += 4 * (1 + bank_path(bank_of(i), &names));
    }
    begin_section(writer, "BANK", bytes);
    put_u32(writer, n_banks());
    for (UInt i = 0; i < n_banks(); i++) {
        const UInt n = bank_path(bank_of(i), &names);
        put_u32(writer, n);
        put(writer, names, n * sizeof *names);
    }
    end_section(writer);
}

/* Of the instructions of one bank: how often each was passed, iterated, ended by its flag. */
typedef struct {
    ULong passes, iterations, flag_ends;
} Executed;

static void add_up(const Bank *bank, Executed *executed) {
    VG_(memset)(executed, 0, n_instructions() * sizeof *executed);
    for (UInt s = 0; s < n_segments(); s++) {
        const Segment *segment = segment_of(s);
        const ULong n = bank_counter(bank, s);
        for (UInt i = 0; n && i < segment->n_instructions; i++) {
            Executed *of = &executed[segment->instructions[i]];
            switch (segment->role) {
            case SEGMENT_PLAIN:
                of->passes += n;
                break;
            case SEGMENT_LAST_ITERATION:
                of->flag_ends += n;
                of->iterations += n;
                break;
            case SEGMENT_ITERATION:
                of->iterations += n;
                break;
            case SEGMENT_NOT_LAST:
                of->flag_ends -= n;
                break;
            case SEGMENT_FLAG_END:
                of->flag_ends += n;
                break;
            }
        }
    }
}

/* Writes the rows of a section when `writer` is given, else only counts them. */
static ULong executed_rows(Writer *writer, UInt bank, const Executed *executed, Bool repeated) {
    ULong rows = 0;
    for (UInt i = 0; i < n_instructions(); i++) {
        const Executed *of = &executed[i];
        if (repeated ? !of->iterations && !of->flag_ends : !of->passes) {
            continue;
        }
        rows++;
        if (!writer) {
            continue;
        }
        put_u32(writer, bank);
        put_u32(writer, i);
        if (repeated) {
            put_u64(writer, of->iterations);
            put_u64(writer, of->flag_ends);
        } else {
            put_u64(writer, of->passes);
        }
    }
    return rows;
}

static void put_executions(Writer *writer) {
    Executed *executed = allocate((SizeT)n_instructions() * sizeof *executed + 1);
    for (UInt repeated = 0; repeated < 2; repeated++) {
        ULong rows = 0;
        for (UInt bank = 0; bank < n_banks(); bank++) {
            add_up(bank_of(bank), executed);
            rows += executed_rows(NULL, bank, executed, repeated);
        }
        begin_section(writer, repeated ? "REPS" : "EXEC", rows * (repeated ? 24 : 16));
        for (UInt bank = 0; bank < n_banks(); bank++) {
            add_up(bank_of(bank), executed);
            executed_rows(writer, bank, executed, repeated);
        }
    }
    VG_(free)(executed);
}

static Bool is_nothing(const Moved *moved) {
    const UChar *byte = (const UChar *)moved;
    for (UInt i = 0; i < sizeof *moved; i++) {
        if (byte[i]) {
            return False;
        }
    }
    return True;
}

static void put_moved_row(Writer *writer, UInt bank, UInt of, const Moved *moved) {
    put_u32(writer, bank);
    put_u32(writer, of);
    put(writer, moved, sizeof *moved);
}

/* Writes the rows when `writer` is given, else only counts them. */
static ULong moved_rows(Writer *writer, UInt bank) {
    ULong rows = 0;
    for (UInt i = 0; i < n_instructions(); i++) {
        const Moved *moved = bank_moved_by(bank_of(bank), i);
        if (!moved || is_nothing(moved)) {
            continue;
        }
        rows++;
        if (writer) {
            put_moved_row(writer, bank, i, moved);
        }
    }
    return rows;
}

static void put_moved(Writer *writer) {
    ULong rows = 0;
    for (UInt bank = 0; bank < n_banks(); bank++) {
        rows += moved_rows(NULL, bank);
    }
    begin_section(writer, "MOVE", rows * 80);
    for (UInt bank = 0; bank < n_banks(); bank++) {
        moved_rows(writer, bank);
    }
}

static void put_other_geometries(Writer *writer) {
    if (options.n_geometries < 2) {
        return;
    }
    const UInt n = options.n_geometries - 1;
    begin_section(writer, "ALTN", (ULong)n * n_banks() * 80);
    for (UInt b = 0; b < n_banks(); b++) {
        for (UInt g = 0; g < n; g++) {
            put_moved_row(writer, b, g, bank_moved_in(bank_of(b), g));
        }
    }
    begin_section(writer, "ALTP", n * 8);
    for (UInt g = 0; g < n; g++) {
        put_u64(writer, trace_dirty_lines(1 + g));
    }
}

static void put_miss_curve(Writer *writer) {
    if (!trace_reuse()) {
        return;
    }
    static CurveRow rows[CURVE_ROWS];
    CurveSummary summary;
    const ULong n = reuse_curve(trace_reuse(), rows, CURVE_ROWS, &summary);
    begin_section(writer, "CURV", 4 * 8 + n * sizeof *rows);
    put_u64(writer, options.geometry[0].line_bytes);
    put_u64(writer, summary.sampled_lines);
    put_u64(writer, summary.denominator);
    put_u64(writer, summary.accesses);
    put(writer, rows, n * sizeof *rows);
}

static void put_all(Writer *writer, WhyWritten why, Int status) {
    put(writer, "RIDGEENG", 8);
    put_u32(writer, VERSION_OF_FORMAT);
    put_u32(writer, 0);
    put_process(writer, why, status);
    put_strings(writer);
    put_instructions(writer);
    put_banks(writer);
    put_executions(writer);
    if (options.n_geometries) {
        put_moved(writer);
        begin_section(writer, "PEND", 8);
        put_u64(writer, trace_dirty_lines(0));
        put_other_geometries(writer);
    }
    put_miss_curve(writer);
    begin_section(writer, "TAIL", 0);
    flush(writer);
}

/* ---- the file ---- */

static Int folder = -1; /* descriptor */

/* The folder is opened before the program begins: it may change its root directory, or drop the
 * privilege to reach it. */
void output_begin(void) {
    HChar *path = VG_(expand_file_name)("--counts-file", options.output);
    *(VG_(strrchr)(path, '/') + 1) = 0;
    const SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
    if (!sr_isError(opened)) {
        folder = VG_(safe_fd)(sr_Res(opened)); /* where the program cannot close it */
    }
    VG_(free)(path);
}

/* A process that becomes another program writes once for each: names are numbered. */
static Int new_file(HChar *path, const HChar *stem) {
    const SizeT before_name = folder < 0 ? 0 : VG_(strrchr)(stem, '/') + 1 - stem;
    for (UInt i = 0; i < MOST_FILES_OF_A_PROCESS; i++) {
        VG_(sprintf)(path, "%s.%u", stem, i);
        const SysRes opened =
            VG_(do_syscall)(__NR_openat, folder, (UWord)(path + before_name),
                            VKI_O_CREAT | VKI_O_EXCL | VKI_O_WRONLY, 0600, 0, 0, 0, 0);
        if (!sr_isError(opened)) {
            /* Whatever the program has forbidden for the files that it creates. */
            VG_(do_syscall)(__NR_fchmod, sr_Res(opened), 0600, 0, 0, 0, 0, 0, 0);
            return sr_Res(opened);
        }
        if (sr_Err(opened) != VKI_EEXIST) {
            return -1;
        }
    }
    return -1;
}

/* Lets files be as large as the program may allow itself; returns what it had allowed. */
static struct vki_rlimit lifted_file_size(void) {
    struct vki_rlimit of_program;
    VG_(getrlimit)(LIMIT_OF_FILE_SIZE, &of_program);
    const struct vki_rlimit most = {of_program.rlim_max, of_program.rlim_max};
    const struct vki_rlimit none = {~0ul, ~0ul};
    if (VG_(setrlimit)(LIMIT_OF_FILE_SIZE, &none) != 0) {
        VG_(setrlimit)(LIMIT_OF_FILE_SIZE, &most);
    }
    return of_program;
}

void output_of_child(void) {
    has_written = False;
}

void write_output(WhyWritten why, Int status) {
    string_id(""); /* id 0 is there even where nothing ran */
    HChar *stem = VG_(expand_file_name)("--counts-file", options.output);
    HChar *path = VG_(malloc)("ridgepoint.path", VG_(strlen)(stem) + 16);
    Writer writer = {.descriptor = new_file(path, stem)};
    const struct vki_rlimit of_program = lifted_file_size();
    if (writer.descriptor < 0) {
        VG_(umsg)("ridgepoint: cannot create %s\n", path);
    } else {
        put_all(&writer, why, status);
        VG_(close)(writer.descriptor);
        has_written = True;
        if (writer.failed) {
            VG_(umsg)("ridgepoint: cannot write all of %s\n", path);
        }
    }
    VG_(setrlimit)(LIMIT_OF_FILE_SIZE, &of_program);
    VG_(free)(path);
    VG_(free)(stem);
}
