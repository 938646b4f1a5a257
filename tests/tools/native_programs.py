"""The trials of the copying engine: programs of tests/programs/native in all their modes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from native_trials import Built, Trial

_C = ("-O2", "-pthread")
_CPUINFO = Path("/proc/cpuinfo")


def _as_root() -> str | None:
    return None if os.geteuid() == 0 else "only root may do this"


def _has(program: str) -> Callable[[], str | None]:
    return lambda: None if shutil.which(program) else f"{program} is not installed"


def _cpu_has(*flags: str) -> Callable[[], str | None]:
    def lacks() -> str | None:
        (line, *_) = [one for one in _CPUINFO.read_text().splitlines() if one.startswith("flags")]
        lacking = set(flags) - set(line.split())
        return f"this CPU has no {' '.join(sorted(lacking))}" if lacking else None

    return lacks


def _modes(
    source: str,
    modes: str,
    *,
    options: tuple[str, ...] = _C,
    more: tuple[str, ...] = (),
    prefix: str = "",
    **others: object,
) -> list[Trial]:
    """Return a trial for each mode of a program; `more` are arguments."""
    built = Built(source=source, options=options)
    name = prefix + source.partition(".")[0]
    return [
        Trial(name=f"{name}-{mode}", program=built, arguments=(mode, *more), **others)
        for mode in modes.split()
    ]


THREADS = [
    *_modes("threads.c", "brief", limit_s=120),
    *_modes("threads.c", "many cancel destructors local detached stacks exits raw standard"),
    *_modes("threads.c", "trees own_stack"),
]

_STATIC = Built(source="processes.c", options=(*_C, "-static"), name="static")
_PLAIN = Built(source="processes.c", options=_C, name="plain")
PROCESSES = [
    *_modes("processes.c", "work fork deep fork_threads vfork spawn shells chain thread_execs"),
    *_modes("processes.c", "exec_failing daemon close_all descriptors killed terminated aborted"),
    *_modes("processes.c", "crashes raw share at_exit"),
    *_modes("processes.c", "traced", limit_s=120),
    *(
        Trial(
            name=f"processes-{mode}-{kind}",
            program=Built(source="processes.c", options=_C),
            needs=(_PLAIN, _STATIC),
            arguments=(mode, *command),
        )
        for mode in ("exec_same", "exec_empty", "exec_null", "exec_file")
        for kind, command in {
            "plain": ("{folder}/plain", "work"),
            "static": ("{folder}/static", "work"),
            "shell": ("/bin/sh", "-c", "echo $# and; exit 9"),
        }.items()
    ),
    Trial(
        name="processes-exec_same-script",
        program=Built(source="processes.c", options=_C),
        arguments=("exec_same", "{sources}/script.sh", "a", "b"),
    ),
]

SIGNALS = [
    *_modes(
        "signals.c", "segv_jump segv_mend fpe_skip segv_table segv_first own_profiler nested trap"
    ),
    *_modes("signals.c", "itimer timers timer_jumps timer_forks", repeat=3),
    *_modes("signals.c", "interrupted alternate small_alternate single_step waited inherited"),
    *_modes("signals.c", "all_caught"),
]

STACKS = _modes(
    "stacks.c",
    "jumps builtin nested contexts travelling backtraces symbols regions handler huge",
    options=(*_C, "-rdynamic"),
)

_PARTS = tuple(
    Built(
        source="thrown_part.cpp",
        name=f"lib{name}.so",
        options=("-O2", "-fPIC", "-shared", f"-DPART={part}"),
    )
    for name, part in (("part1", 1), ("part2", 2), ("part3", 3), ("gone", 3))
)
_LINKED = ("-L{folder}", "-lpart1", "-lpart2", "-lpart3", "-Wl,-rpath,{folder}")
_THROWN = "catches rethrown constructors through_c threads locals libraries loaded terminates"


def _thrown(kind: str, *options: str, compiler: str | None = None) -> list[Trial]:
    built = Built(
        source="thrown.cpp",
        options=("-fnon-call-exceptions", "-pthread", *options, *_LINKED),
        compiler=compiler,
    )
    return [
        Trial(
            name=f"thrown-{kind}{mode}",
            program=built,
            needs=_PARTS,
            arguments=(mode, "{folder}/libgone.so"),
            slow=kind != "",
        )
        for mode in f"{_THROWN} uncaught from_handler unwound".split()
    ]


THROWN = [
    *_thrown("", "-O2"),
    *_thrown("O0-", "-O0"),
    *_thrown("clang-", "-O2", compiler="clang++"),
    *(
        one
        for one in _thrown("libgcc-", "-O2", "-static-libgcc", "-static-libstdc++")
        # with two C++ libraries in one program, these end by a signal without an engine too
        if not one.name.endswith(("threads", "unwound", "uncaught"))
    ),
    *_thrown("fixed-", "-O2", "-fno-pie", "-no-pie"),
]

_LIBRARIES = tuple(
    Built(
        source="library.c",
        name=f"library{which}.so",
        options=("-O2", "-fPIC", "-shared", f"-DWHICH={which}", "-Wl,-rpath,$ORIGIN"),
    )
    for which in (1, 2, 3)
)
_WRAPS = Built(source="wraps.c", name="wraps.so", options=("-O2", "-fPIC", "-shared"))
_AUDITS = Built(source="audits.c", name="audits.so", options=("-O2", "-fPIC", "-shared"))
_LOADED = Built(source="libraries.c", options=(*_C, "-rdynamic"))


def _libraries(kind: str, modes: str, **others: object) -> list[Trial]:
    return [
        Trial(
            name=f"libraries-{kind}{mode}",
            program=_LOADED,
            arguments=(mode, *(f"{{folder}}/library{which}.so" for which in (1, 2, 3))),
            needs=(*_LIBRARIES, _WRAPS, _AUDITS),
            **others,
        )
        for mode in modes.split()
    ]


LIBRARIES = [
    *_libraries("", "again changing says counting spaces threads callers names objects"),
    *_libraries("preload-", "again callers", environment={"LD_PRELOAD": "{folder}/wraps.so"}),
    *_libraries("audit-", "again callers", environment={"LD_AUDIT": "{folder}/audits.so"}),
    *_libraries("now-", "again changing", environment={"LD_BIND_NOW": "1"}),
]

_SHAPES = ("-O2", "-pthread", "-rdynamic", "{sources}/shapes.S")
_CHECKS_ITSELF = "it reads the bytes of its own code"
SHAPES = [
    *_modes("shapes.c", "small middle unknown call_pop flags chains string forms", options=_SHAPES),
    *_modes("shapes.c", "inlined system_calls old_calls", options=_SHAPES),
    *_modes("shapes.c", "changed replaced", options=_SHAPES),
    *_modes(
        "shapes.c", "asks", options=_SHAPES, never="it compares its caller with its own bounds"
    ),
    *_modes("shapes.c", "fs_base", options=_SHAPES, lacks=_cpu_has("fsgsbase")),
    *_modes("segments.c", "gs", counted=False),
    *_modes("segments.c", "gs_base", counted=False, lacks=_cpu_has("fsgsbase")),
    *_modes("selectors.c", "base", counted=False, lacks=_cpu_has("fsgsbase")),
    *_modes("selectors.c", "selector", options=(*_C, "-DSELECTOR"), counted=False),
    *_modes("selectors.c", "table zeros", options=(*_C, "-DTABLE")),
    *_modes("shapes.c", "transactions", options=_SHAPES, lacks=_cpu_has("rtm")),
    *_modes("shapes.c", "restartable", options=_SHAPES, repeat=2),
    *_modes("shapes.c", "self_check", options=_SHAPES, never=_CHECKS_ITSELF),
]

_GCC = {
    "O0": "-O0",
    "O1": "-O1",
    "O3": "-O3",
    "Os": "-Os",
    "fixed": "-O2 -fno-pie -no-pie",
    "large": "-O2 -mcmodel=large -fno-pie -no-pie",
    "medium": "-O2 -mcmodel=medium",
    "cet": "-O2 -fcf-protection",
    "thunks": "-O2 -fcf-protection=none -mindirect-branch=thunk -mfunction-return=thunk",
    "no-tables": "-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables",
    "one-part": "-O2 -ffunction-sections -Wl,-z,noseparate-code",
    "native": "-O3 -march=native",
    "split-stack": "-O2 -fsplit-stack",
    "protected": "-O2 -fstack-protector-all -D_FORTIFY_SOURCE=2",
    "patchable": "-O2 -fpatchable-function-entry=5",
    "unaligned": "-O2 -falign-functions=1 -falign-loops=1",
    "lto": "-O2 -flto",
    "undefined": "-O2 -fsanitize=undefined",
    "prelinked": "-O2 -Wl,-z,now -Wl,-z,pack-relative-relocs",
}
_CLANG = {
    "O0": "-O0",
    "O2": "-O2",
    "Oz": "-Oz",
    "native": "-O3 -march=native",
    "retpoline": "-O2 -mretpoline",
}


def _compiled(kind: str, options: str, **how: object) -> Trial:
    built = Built(source="compiled.c", options=("-w", *options.split(), "-lm"), **how)
    return Trial(name=f"compiled-{kind}", program=built, arguments=("all",), slow=True)


def _becomes(kind: str, options: str) -> Trial:
    """Return a trial of a program that another one becomes: started alone it is refused."""
    sanitized = Built(source="compiled.c", options=("-w", *options.split(), "-lm"), name=kind)
    return Trial(
        name=f"compiled-{kind}",
        program=_PLAIN,
        arguments=("exec_same", f"{{folder}}/{kind}", "all"),
        needs=(sanitized,),
        slow=True,
    )


COMPILED = [
    *(_compiled(kind, options) for kind, options in _GCC.items()),
    *(_compiled(f"clang-{kind}", options, compiler="clang") for kind, options in _CLANG.items()),
    _compiled("stripped", "-O2", after=("strip --strip-all {}",)),
    _compiled(
        "no-sections",
        "-O2",
        after=("strip --strip-all {}", "{python} {sources}/drop_sections.py {}"),
    ),
    replace(_compiled("profiled", "-O2 -pg"), environment={"GMON_OUT_PREFIX": "{folder}/profile"}),
    *(_becomes(f"{kind}-sanitizer", f"-O2 -fsanitize={kind}") for kind in ("address", "thread")),
    replace(_compiled("static", "-O2 -static"), counted=False),
    replace(_compiled("static-pie", "-O2 -static-pie"), counted=False),
    replace(_compiled("musl", "-O2", compiler="musl-gcc"), counted=False),
    replace(_compiled("musl-static", "-O2 -static", compiler="musl-gcc"), counted=False),
]

_V = {
    "masked_tail masked_if masked_float": ("avx512f", "avx512vl"),
    "half": ("avx512_fp16",),
    "bfloat": ("avx512_bf16",),
    "vnni": ("avx512_vnni",),
    "fused gathered": ("avx2", "fma"),
    "old": (),
    "tiles": ("amx_tile", "amx_int8", "amx_bf16"),
}
VECTORS = [
    trial
    for modes, flags in _V.items()
    for trial in _modes("vectors.c", modes, options=("-O2",), lacks=_cpu_has(*flags))
]

LIMITS = [
    *_modes("limits.c", "memory exec_limited lives files exec_files processes size stack locked"),
    *_modes("limits.c", "cpu no_mprotect no_clone killed_by_clone strict emulated no_executable"),
    *_modes("limits.c", "not_dumpable unmapped own_mappings attributes"),
    *_modes("limits.c", "nobody exec_nobody exec_nobody_same for_a_while", lacks=_as_root),
    *_modes("limits.c", "new_spaces", lacks=_as_root),
    *_modes("limits.c", "removed", more=("{folder}/removed",)),
    *_modes("limits.c", "jail", more=("{folder}/empty",), lacks=_as_root),
]

MADE = [
    *_modes("made.c", "rewritten protected twice remapped while_running taken_away on_stack many"),
    *_modes("made.c", "forked"),
    *_modes(
        "registered.cpp", "called thrown deep traced jumped changed many odd", options=("-O2",)
    ),
    *_modes("changes.c", "direct under_way jumped hooked remapped other_text forked signalled"),
    *_modes("changes.c", "system_too"),
    *_modes("changes.c", "threads raced", repeat=3),
    *_modes("changes.c", "direct hooked threads", options=(*_C, "-DWRITABLE"), prefix="writable-"),
    *_modes("changes.c", "library", more=("{folder}/library1.so",), needs=_LIBRARIES),
    *_modes("made.c", "by_hand", more=("{folder}/library1.so",), needs=_LIBRARIES),
]

_GO = Built(
    source="collects.go", line="go build -o {} {sources}/collects.go {sources}/collects_plain.go"
)
_CGO = Built(
    source="collects.go",
    line="go build -o {} {sources}/collects.go {sources}/collects_c.go",
    name="collects-linked",
)
_PASCAL = Built(source="raises.pas", line="fpc -O2 -FE{folder} -o{} {sources}/raises.pas")
_JAVA = Built(source="Collects.java", line="javac -d {folder} {sources}/Collects.java")
LANGUAGES = [
    Trial(name="rust-panics", program=Built(source="panics.rs", options=("-O",))),
    Trial(name="fortran-solves", program=Built(source="solves.f90", options=("-O2",))),
    Trial(name="go-static", program=_GO, counted=False),
    Trial(name="go-linked", program=_CGO, counted=False),
    Trial(
        name="ocaml-collects",
        program=Built(
            source="collects.ml", line="sh {sources}/ocaml.sh {sources}/collects.ml {folder} {}"
        ),
        lacks=_has("ocamlopt"),
    ),
    Trial(
        name="ocaml-stripped",
        program=Built(
            source="collects.ml",
            line="sh {sources}/ocaml.sh {sources}/collects.ml {folder} {}",
            after=("strip {}",),
        ),
        lacks=_has("ocamlopt"),
    ),
    Trial(
        name="haskell-collects",
        program=Built(
            source="collects.hs",
            line="ghc -v0 -O -threaded -rtsopts -outputdir {folder}/hs -o {} {sources}/collects.hs",
        ),
        arguments=("+RTS", "-N2", "-A1m"),
    ),
    Trial(name="pascal-raises", program=_PASCAL, counted=False),
    Trial(
        name="java-collects",
        arguments=("java", "-Xmx300m", "-cp", "{folder}", "Collects"),
        needs=(_JAVA,),
        limit_s=120,
    ),
    *_modes("unwinds.c", "walk resume", options=("-O2", "-rdynamic", "-lunwind")),
    *_modes(
        "unwinds.c",
        "names",
        options=("-O2", "-rdynamic", "-lunwind"),
        never="libunwind reads names from the file that is mapped where it looks",
    ),
]

_INPUT = Built(source="input")


def _shell(name: str, line: str, **how: object) -> Trial:
    """Return a trial of a command line."""
    first = line.split(maxsplit=1)[0]
    return Trial(
        name=name,
        arguments=("sh", "-c", line),
        needs=(_INPUT,),
        lacks=_has(first) if not first.startswith("{") else lambda: None,
        **{"slow": True, "limit_s": 120.0, **how},
    )


_TESTS = (
    "test_json test_re test_list test_exceptions test_generators test_threading test_signal "
    "test_ctypes test_subprocess test_struct test_array test_decimal test_zlib test_fork1 "
    "test_math test_dict test_unicode test_pickle test_gc test_coroutines test_traceback "
    "test_faulthandler test_mmap test_queue test_thread test_weakref test_sqlite3 test_hashlib"
)
_SUM = "| sha256sum"
PROGRAMS = [
    *(
        _shell(f"packed-{tool}", f"{tool} -c {{folder}}/input | {tool} -dc {_SUM}", slow=slow)
        for tool, slow in (("gzip", False), ("bzip2", True), ("xz", True), ("zstd", False))
    ),
    _shell("packed-gzip-bytes", f"gzip -nc6 {{folder}}/input {_SUM}"),
    _shell("packed-xz-threads", f"xz -T4 --block-size=262144 -c {{folder}}/input {_SUM}"),
    _shell("text-sort", f"sort {{folder}}/input | uniq -c | sort -k2,2 -k1,1n {_SUM}", slow=False),
    _shell("text-grep", "grep -c -E 'w1.*(a|b)+ w[0-9]+$' {folder}/input", slow=False),
    _shell(
        "text-awk",
        f"awk '{{n[$1]++}} END {{for (w in n) print w, n[w]}}' {{folder}}/input | sort {_SUM}",
        slow=False,
    ),
    _shell(
        "text-sed",
        f"sed -E 's/(w[0-9]+) (w[a-f0-9]+)/\\2-\\1/g' {{folder}}/input {_SUM}",
        slow=False,
    ),
    _shell("text-tar", f"tar -C {{sources}} --sort=name -cf - . | tar -tf - {_SUM}", slow=False),
    _shell("text-find", "find /usr/lib -maxdepth 2 -name '*.so*' | sort | sha256sum", slow=False),
    _shell("text-bc", "bc -l -q {sources}/digits.bc", slow=False),
    _shell("sqlite", f"sqlite3 :memory: < {{sources}}/tables.sql {_SUM}", slow=False),
    _shell(
        "openssl-digests",
        "openssl dgst -sha512 {folder}/input; openssl dgst -sha3-256 "
        "{folder}/input; openssl dgst -blake2b512 {folder}/input; openssl dgst -md5 "
        "{folder}/input",
    ),
    _shell(
        "openssl-ciphers",
        "openssl list -cipher-algorithms > /dev/null; for c in aes-256-cbc "
        "aes-128-ctr chacha20 camellia-256-cbc aria-128-cbc; do openssl enc -$c -K "
        "00112233445566778899aabbccddeeff -iv 0123456789abcdef -in {folder}/input 2>/dev/null "
        f"{_SUM}; "
        "done",
        slow=False,
    ),
    _shell(
        "openssl-keys",
        "openssl genrsa 2048 2>/dev/null > {folder}/key; openssl dgst -sha256 "
        "-sign {folder}/key -out {folder}/signed {folder}/input; openssl rsa -in {folder}/key "
        "-pubout -out {folder}/public 2>/dev/null; openssl dgst -sha256 -verify {folder}/public "
        "-signature {folder}/signed {folder}/input; openssl ecparam -name prime256v1 -genkey "
        "-noout | openssl ec -check -noout; openssl prime 2147483647",
    ),
    _shell(
        "compilers-gcc",
        "gcc -w -O2 -c {sources}/compiled.c -o {folder}/gcc.o && sha256sum < {folder}/gcc.o",
    ),
    _shell(
        "compilers-g++",
        "g++ -w -O2 -c {sources}/thrown.cpp -o {folder}/g++.o && sha256sum < {folder}/g++.o",
    ),
    _shell(
        "compilers-clang",
        "clang -w -O2 -c {sources}/compiled.c -o {folder}/clang.o && sha256sum < {folder}/clang.o",
    ),
    _shell(
        "compilers-clang++",
        "clang++ -w -O2 -c {sources}/thrown.cpp -o {folder}/clang++.o && "
        "sha256sum < {folder}/clang++.o",
    ),
    _shell(
        "compilers-rustc",
        "rustc -O --emit=obj {sources}/panics.rs -o {folder}/rust.o && sha256sum < {folder}/rust.o",
    ),
    _shell(
        "compilers-gfortran",
        "gfortran -O2 -c {sources}/solves.f90 -o {folder}/f.o && sha256sum < {folder}/f.o",
    ),
    replace(_shell("tools-valgrind", "valgrind -q {folder}/plain work"), needs=(_PLAIN,)),
    _shell("languages-perl", "perl {sources}/words.pl {folder}/input"),
    _shell("languages-lua", "lua5.4 {sources}/words.lua", slow=False),
    _shell("languages-node", "node {sources}/words.js"),
    _shell("languages-python", "{python} {sources}/words.py", slow=False),
    _shell(
        "languages-bash",
        "bash -c 'for i in $(seq 400); do : $((s = (s * 31 + i) % 65537)); "
        "x=$(echo $s); done; echo $s $x'",
        slow=False,
    ),
    _shell(
        "languages-gdb",
        "gdb -q -batch -ex 'python print(sum(range(10000)))' -ex 'info "
        "functions ^main$' {folder}/plain",
    ),
    _shell("languages-make", "make -s -f {sources}/words.mk", slow=False),
    _shell("languages-git", "git -C {sources} log --oneline -n 20 --stat -- . | sha256sum"),
    *(
        _shell(f"python-{test}", f"{{python}} -m test -q {test}", compares=(), limit_s=300.0)
        for test in _TESTS.split()
    ),
    *(
        _shell(
            f"{part.partition('.')[0]}-{part.partition('.')[2]}",
            f"{{python}} -m pytest -c /dev/null --rootdir {{folder}} -p no:cacheprovider -q -x "
            f"--pyargs {part}",
            compares=(),
            limit_s=600.0,
        )
        for part in (
            *(
                "numpy.fft",
                "numpy.random",
                "numpy.linalg",
                "numpy.lib",
                "scipy.fft",
                "scipy.sparse.linalg",
            ),
        )
    ),
]

TRIALS = [
    *THREADS,
    *PROCESSES,
    *SIGNALS,
    *STACKS,
    *THROWN,
    *LIBRARIES,
    *SHAPES,
    *COMPILED,
    *VECTORS,
    *LIMITS,
    *MADE,
    *LANGUAGES,
    *PROGRAMS,
]
