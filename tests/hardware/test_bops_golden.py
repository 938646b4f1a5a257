"""Small programs counted by hand, by the rules of docs/bops.md, and then by the counter.

Each row's derivation stands in front of it; `a`, `l`, `c`, `x` are arithmetic, logic, comparisons
and addressing, `fa` and `fc` arithmetic and comparisons of floating-point numbers.
"""

import os
import subprocess

import pytest

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.host.run import Run
from ridgepoint.meters.source import built, count, find_clang

try:
    find_clang()
    LACK = None
except MeterUnavailable as error:
    LACK = str(error)
pytestmark = pytest.mark.skipif(LACK is not None, reason=LACK or "")


def ops(a=0, fa=0, l=0, c=0, fc=0, x=0):  # noqa: E741
    """Return operations by the letters of the derivations."""
    return BasicOperations(
        arithmetic=a, fp_arithmetic=fa, logic=l, compare=c, fp_compare=fc, addressing=x
    )


def in_main(body, before=""):
    """Return a program; `argc` is 1."""
    return f"{before}\nint main(int argc, char **argv)\n{{\n{body}\nreturn 0;\n}}\n"


STRCMP = """
static int compare(const char *s, const char *t)
{
    unsigned char c1, c2;
    while (1) {
        c1 = *s++;
        c2 = *t++;
        if (c1 != c2)
            return c1 < c2 ? -1 : 1;
        if (!c1)
            break;
    }
    return 0;
}
"""

CASES = {
    # What is known before the program runs depends on the level of optimisation, so it is never
    # said to be: n + n + n twice, a 4.
    "constants that a compiler may know": (
        in_main(
            "argc = known(argc); argc = known(3);",
            "static int known(int n) { return __builtin_constant_p(n) ? n * 2 : n + n + n; }",
        ),
        ops(a=4),
    ),
    # An inline function of C99 may be inlined or called, and is the same: 5 rounds of x * x + 1,
    # i < 5 six times, i++ five times. a 5 (2 + 1), c 6.
    "inline functions of C99": (
        in_main(
            "for (int i = 0; i < 5; i++) argc = square(i);",
            "inline int square(int x) { return x * x + 1; }\nextern inline int square(int x);",
        ),
        ops(a=15, c=6),
    ),
    # No condition ends the loop: 10 rounds of m += 2, n + 1 and n == 10, of
    # which the last leaves before m ^= 1. a 10 + 10, c 10, l 9.
    "a loop that only exit leaves": (
        in_main(
            "for (;;) { m += 2; once(); m ^= 1; }",
            "#include <stdlib.h>\nstatic int n, m;\n"
            "static void once(void) { if (++n == 10) exit(0); }",
        ),
        ops(a=20, l=9, c=10),
    ),
    # k++ and k == 5 five times: a 5, c 5. Then k = 4, 3, 2, 1, 0: a 5 (k--), c 5 (while (k)); 3
    # does *= 1 and falls through to |=, 2 does |=, 1 does += 0: a 2, l 2. Behind the labels k++ and
    # k - k: a 2.
    "loops and jumps that meet": (
        in_main(
            "int k = 0; while (1) { k++; if (k == 5) break; }\n"
            "do { k--; switch (k) { case 1: k += 0; break; case 3: k *= 1; case 2: k |= 0; break;\n"
            "default: ; } } while (k);\n"
            "goto b; a: return k - k; b: k++; goto a;"
        ),
        ops(a=5 + 5 + 2 + 1 + 1, l=2, c=5 + 5),
    ),
    # The paper says 300 and leaves the 101st comparison out: j < 100 is executed for j = 0...100.
    # c 101, a 100 (j++), x 100.
    "the paper's loop": (
        in_main("long n[100]; int j; for (j = 0; j < 100; j++) { n[j] = 0; }"),
        ops(a=100, c=101, x=100),
    ),
    # "abc" against "abd": 3 rounds. Each: 2 a (s++, t++), 1 c (c1 != c2); the last also c1 < c2;
    # the first two also !c1. a 6; c 3 + 1 + 2 = 6.
    "the paper's strcmp, different": (
        in_main('return compare("abc", "abd") != -1;', STRCMP),
        ops(a=6, c=7),  # one more c: != -1 in main
    ),
    # "ab" against "ab": 3 rounds with !c1 in each. a 6; c 3 + 3; and != in main.
    "the paper's strcmp, equal": (
        in_main('return compare("ab", "ab") != 0;', STRCMP),
        ops(a=6, c=7),
    ),
    # !argc is argc == 0: c 1. if (argc): c 1. Twice reversed it is still one comparison: c 1.
    "truth of numbers": (
        in_main("int r = !argc; if (argc) r = 2; if (!!argc) r = 3;"),
        ops(c=3),
    ),
    # argc < 3: c 1; ! of it only reverses: 0. A _Bool is a truth value already: 0, 0.
    "truth of truths": (
        in_main("_Bool b = argc < 3; if (b) argc = 2; if (!b) argc = 3; b = !b;"),
        ops(c=1),
    ),
    # argc > 0 (c, true), so && evaluates argc < 9 (l, c); argc > 5 (c, false): && stops: no l.
    "and": (
        in_main("int r = argc > 0 && argc < 9; if (argc > 5 && argc < 9) r = 2;"),
        ops(l=1, c=3),
    ),
    # argc > 5 (c, false), so || evaluates argc > 0 (l, c); argc > 0 (c, true): || stops.
    # Then (c l c) && (l) c: argc > 5 || argc > 0, and argc < 9: l 2, c 3.
    "or": (
        in_main(
            "int r = argc > 5 || argc > 0; if (argc > 0 || argc < 9) r = 2;"
            "if ((argc > 5 || argc > 0) && argc < 9) r = 3;"
        ),
        ops(l=1 + 2, c=3 + 3),
    ),
    # ++ and -- before and behind: a 4. += -= *= /= %=: a 5.
    "steps and compound assignment": (
        in_main("int i = argc; ++i; i++; --i; i--; i += 3; i -= 1; i *= 5; i /= 2; i %= 3;"),
        ops(a=9),
    ),
    # & | ^ ~ << >> and their assignments: l 6 + 5.
    "bits": (
        in_main(
            "unsigned i = argc, k = (i & 3) | 4; k = k ^ 5; k = ~k; k = k << 2; k = k >> 1;"
            "k &= 7; k |= 8; k ^= 9; k <<= 1; k >>= 1;"
        ),
        ops(l=11),
    ),
    # -argc: a 1; +argc: 0; -d: fa 1; constants: 0.
    "unary": (
        in_main("int i = -argc; i = +argc; double d = argc; d = -d; i = -7;"),
        ops(a=1, fa=1),
    ),
    # Conversions: 0. int to double and back, to char, to pointer and back.
    "casts": (
        in_main("double d = argc; char c = (char)d; long l = (long)argv; void *p = (void *)l;"),
        ops(),
    ),
    # p + 1, p++, p += argc, p - 1: a 4. q - p: a 1 (its division by the size is no operator).
    # p < q: c 1. *p: 0.
    "pointers": (
        in_main(
            "int n[9]; int *p = n, *q; q = p + 1; p++; p += argc; p = p - 1;"
            "long d = q - p; if (p < q) d = 1; *p = 3;"
        ),
        ops(a=5, c=1),
    ),
    # p[i]: x 1. n[i][j]: x 2. c[i][j][k]: x 3. On the right and on the left.
    "dimensions": (
        in_main(
            "int v[4], n[4][5], c[2][3][4]; int i = argc; v[i] = 1; n[i][i] = v[i]; c[i][i][i] = 2;"
        ),
        ops(x=1 + 2 + 1 + 3),
    ),
    # The same with lengths known only at run time: x 1 + 2; the length itself is a + 1: a 1.
    "arrays of variable length": (
        in_main("int m = argc + 4; int v[m], n[m][m]; v[argc] = 1; n[argc][argc] = 2;"),
        ops(a=1, x=3),
    ),
    # Fields: 0. s.v[i]: x 1; p->v[i]: x 1; a[i].x: x 1.
    "fields": (
        in_main(
            "struct S s, *p = &s, a[3]; s.x = 1; p->x = 2; s.v[argc] = 1; p->v[argc] = 2;"
            "a[argc].x = 3;",
            "struct S { int x; int v[4]; };",
        ),
        ops(x=3),
    ),
    # Reading, writing: 0; s.b++: a 1; s.b += 2: a 1; s.b == 3: c 1. Shifts and masks are clang's.
    "fields of bits": (
        in_main(
            "struct S s = {0}; s.b = 1; s.b++; s.c = argc; s.c += 2; if (s.c == 3) s.b = 0;",
            "struct S { unsigned b : 3; int c : 5; };",
        ),
        ops(a=2, c=1),
    ),
    # No comparison: a branch of Table 6. The ranges of GNU C: the same.
    "switch": (
        in_main("switch (argc) { case 1: break; case 7: return 1; case 10 ... 99: return 2; }"),
        ops(),
    ),
    # argc ? : c 1; argc > 0 ? : c 1; the choice: 0.
    "conditional": (in_main("int r = argc ? 1 : 2; r = argc > 0 ? r : 3;"), ops(c=2)),
    # while (n--) with n = 3: 4 a, 4 c (3 2 1 0). do while (k < 3): 3 a, 3 c.
    "loops": (
        in_main("int n = 3, k = 0; while (n--) ; do { k++; } while (k < 3);"),
        ops(a=7, c=7),
    ),
    # fib(5): 15 calls; each c 1; the 7 that go on a 3 (n - 1, n - 2, +).
    "recursion": (
        in_main("fib(5);", "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }"),
        ops(a=21, c=15),
    ),
    # x * y + z: fa 2, whether fused or not. x < y: fc 1. if (x): fc 1. x / y: fa 1.
    "floating point": (
        in_main("double x = argc, y = 2, z = x * y + x; if (x < y) z = 1; if (x) z = x / y;"),
        ops(fa=3, fc=2),
    ),
    # 4 lanes: +: fa 4; integer <: c 4; v[i]: x 1; the product fused into a sum: fa 8.
    "vectors": (
        in_main(
            "v4 a = {1, 2, 3, 4}, b = a + a; i4 i = {1, 2}, j = i < i;"
            "float f = a[argc]; b = a * a + b;",
            "typedef float v4 __attribute__((vector_size(16)));"
            "typedef int i4 __attribute__((vector_size(16)));",
        ),
        ops(fa=4 + 8, c=4, x=1),
    ),
    # Library functions and builtins: 0, in place or called. argv[0]: x 1.
    "library": (
        in_main(
            "char s[9]; memset(s, 0, 9); memcpy(s, argv[0], 1); int n = abs(-argc);"
            "double d = fabs(1.5);",
            "#include <string.h>\n#include <stdlib.h>\n#include <math.h>",
        ),
        ops(a=1, x=1),
    ),
    # A static array with constant indices is an address constant: 0; g[argc]: x 1; 2 * 3: 0.
    "constants": (
        in_main("g[2] = 2 * 3; *(g + 1) = sizeof g; g[argc] = 1;", "int g[4];"),
        ops(x=1),
    ),
    # likely(argc > 0) is one comparison, however often it is wrapped: c 1.
    "expectations": (
        in_main("if (__builtin_expect(!!(argc > 0), 1)) argc = 2;"),
        ops(c=1),
    ),
    # x++: a; fetch_add: a; fetch_or: l; x *= 2: a.
    "atomics": (
        in_main(
            "_Atomic int x = 1; x++; atomic_fetch_add(&x, 2); atomic_fetch_or(&x, 8); x *= 2;",
            "#include <stdatomic.h>",
        ),
        ops(a=3, l=1),
    ),
    # Sum of a variable number of ints: the loop 3 rounds: c 4, a 3 + 3. va_arg: 0.
    "variable arguments": (
        in_main(
            "sum(3, 1, 2, 3);",
            "#include <stdarg.h>\nint sum(int n, ...) { va_list l; va_start(l, n); int s = 0;"
            "for (int i = 0; i < n; i++) s += va_arg(l, int); va_end(l); return s; }",
        ),
        ops(a=6, c=4),
    ),
}

CXX_CASES = {
    # r += 2: a 1 (a reference is the thing itself). Range-for over 3: begin != end 4 c, ++ 3 a,
    # its end is array + 3: a 1; s += v: 3 a.
    "references and range for": (
        in_main(
            "int n = 1; int &r = n; r += 2; int v[3] = {1, 2, 3}, s = 0; for (int &e : v) s += e;"
        ),
        ops(a=1 + 3 + 1 + 3, c=4),
    ),
    # operator[] of our own: x 1 in it, a 1 in operator+=; calls: 0.
    "operators": (
        in_main(
            "V v; v[argc] = 3; v += 2;",
            "struct V { int d[4]; int n = 0; int &operator[](int i) { return d[i]; }"
            "void operator+=(int k) { n += k; } };",
        ),
        ops(a=1, x=1),
    ),
    # Virtual call, constructor of an array of 3 objects: a 3 (count++ in each); delete: 0.
    "objects": (
        in_main(
            "B *b = new D; b->f(); delete b; D many[3];",
            "static int made; struct B { virtual ~B() {} virtual int f() { return 1; } };"
            "struct D : B { D() { made++; } int f() override { return made + 1; } };",
        ),
        ops(a=4 + 1),
    ),
    # f(0) returns 1 and adds: a 1; f(1) throws before its addition; the handler: a 1; if (i): c 2.
    "exceptions": (
        in_main(
            "int s = 0; try { s = f(0) + 1; s = f(1) + 1; } catch (int e) { s = e + 5; }",
            "int f(int i) { if (i) throw 7; return 1; }",
        ),
        ops(a=2, c=2),
    ),
    # new[] (its size), arrays that are copied whole, a base that is virtual: 0; T::T adds: a 3.
    "what the compiler implies": (
        in_main(
            "T *t = new T[argc + argc - 1]; int a[3] = {1, 2, 3}; auto [x, y, z] = a;"
            "auto f = [a] { return 1; }; V v; v.n = 1;",
            "static int made; struct T { int n; T() { made++; } };"
            "struct A { int n = 0; }; struct V : virtual A {};",
        ),
        ops(a=2 + 1),
    ),
    # Static of a function: constructed once: a 1; n++ twice: a 2.
    "statics": (
        in_main("f(argc); f(argc);", "int f(int k) { static int n = k + 1; n++; return n; }"),
        ops(a=3),
    ),
}


def launch(command, variables):
    """Run a command with variables."""
    done = subprocess.run(command, env={**os.environ, **variables}, check=False)
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Run(exit_status=status, wall_s=1.0, cpu_s=1.0)


@pytest.fixture
def counted(tmp_path):
    """Compile and count a text."""

    def count_text(text, *flags, suffix=".c"):
        source = tmp_path / f"program{suffix}"
        source.write_text(text)
        with built([str(source)], ["-w", *flags], say=print) as (counting, _):
            return count([str(counting)], launch=launch)

    return count_text


@pytest.mark.parametrize("flag", [pytest.param("-O0", marks=pytest.mark.slow), "-O2"])
@pytest.mark.parametrize("name", CASES)
def test_c_counts_what_a_careful_reader_counts(counted, name, flag):
    """Whatever the compiler makes of it, the source says how much there is to do."""
    text, expected = CASES[name]

    result = counted(text, flag, "-lm")

    assert result.operations == expected
    assert result.complete


@pytest.mark.parametrize("flag", ["-O0", "-O3"])
@pytest.mark.parametrize("name", CXX_CASES)
def test_cxx_counts_what_a_careful_reader_counts(counted, name, flag):
    """So in C++, with what its operators and loops stand for."""
    text, expected = CXX_CASES[name]

    result = counted(text, flag, suffix=".cpp")

    assert result.operations == expected
    assert result.complete


@pytest.mark.parametrize("flag", ["-O0", "-O1", "-O2", "-Os"])
def test_what_a_library_has_compiled_too_counts_alike_at_every_level(counted, flag):
    """Each `text[i]` is an addressing in the library's header, called or inlined."""
    text = """
        #include <string>
        int main(int argc, char **) {{
            std::string text(300, 'x');
            int sum = 0;
            for (int i = 0; i < {rounds}; i++) sum += text[i];
            return sum == argc;
        }}
    """

    fewer, more = (
        counted(text.format(rounds=rounds), flag, suffix=".cpp").operations for rounds in (100, 300)
    )

    # Of each round: i < rounds, i++, sum +=, and the addressing.
    assert more - fewer == ops(a=400, c=200, x=200)
