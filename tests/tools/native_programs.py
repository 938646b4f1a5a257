"""The trials of the copying engine: programs of tests/programs/native in all their modes."""

from __future__ import annotations

from native_trials import Built, Trial

_C = ("-O2", "-pthread")


def _modes(source: str, modes: str, *, options: tuple[str, ...] = _C, **others: object) -> list:
    """Return a trial for each mode of a program."""
    built = Built(source=source, options=options)
    name = source.partition(".")[0]
    return [
        Trial(name=f"{name}-{mode}", program=built, arguments=(mode,), **others)
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
    *_modes("signals.c", "segv_jump segv_mend fpe_skip segv_table own_profiler nested trap"),
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
        )
        for mode in f"{_THROWN} uncaught from_handler unwound".split()
    ]


THROWN = [
    *_thrown("", "-O2"),
    *_thrown("O0-", "-O0"),
    *_thrown("clang-", "-O2", compiler="clang++"),
    *_thrown("libgcc-", "-O2", "-static-libgcc", "-static-libstdc++"),
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

TRIALS = [*THREADS, *PROCESSES, *SIGNALS, *STACKS, *THROWN, *LIBRARIES]
