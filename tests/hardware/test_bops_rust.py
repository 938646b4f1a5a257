"""Small programs of Rust counted by hand, by the rules of docs/bops.md, and then by the counter.

Each row's derivation stands in front of it; `a`, `l`, `c`, `x` are arithmetic, logic, comparisons
and addressing, `fa` and `fc` arithmetic and comparisons of floating-point numbers.
"""

import os
import subprocess

import pytest

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.host.run import Run
from ridgepoint.meters.source import built, count, find_clang, find_rustc

try:
    find_clang()
    find_rustc()
    LACK = None
except MeterUnavailable as error:
    LACK = str(error)
pytestmark = pytest.mark.skipif(LACK is not None, reason=LACK or "")


def ops(a=0, fa=0, l=0, c=0, fc=0, x=0):  # noqa: E741
    """Return operations by the letters of the derivations."""
    return BasicOperations(
        arithmetic=a, fp_arithmetic=fa, logic=l, compare=c, fp_compare=fc, addressing=x
    )


# Programs without library code of their own, so that everything is told.
CASES = {
    # j < 100 for j = 0...100: c 101. j += 1: a 100. n[j]: x 100. `[7; 100]` fills: nothing.
    "the paper's loop": (
        "fn main() { let mut n = [7i64; 100]; let mut j = 0; while j < 100 { n[j] = 0; j += 1; } }",
        ops(a=100, c=101, x=100),
    ),
    # 4 passes: v[i]: x 4, s +=: a 4. The range compares 5 times and steps 4 times.
    "range for": (
        "fn sum(v: &[u32], n: usize) -> u32 { let mut s = 0; for i in 0..n { s += v[i]; } s }"
        "fn main() { sum(&[1, 2, 3, 4], 4); }",
        ops(a=4 + 4, c=5, x=4),
    ),
    # + - * / %: a 5; -: a 1; += -= *= /= %=: a 5. & | ^ ! << >>: l 6; their assignments: l 5.
    # Tests for a divisor of 0 and for the distance of shifts are rustc's.
    "operators of integers": (
        "fn f(a: i32, b: i32) { let _ = (a + b, a - b, a * b, a / b, a % b, -a);"
        "let mut k = a; k += b; k -= b; k *= b; k /= b; k %= b;"
        "let _ = (a & b, a | b, a ^ b, !a, a << b, a >> (b));"
        "k &= b; k |= b; k ^= b; k <<= b; k >>= b; }"
        "fn main() { f(7, 3); }",
        ops(a=11, l=11),
    ),
    # < <= > >= == !=: c 6. Of truth values ==: c 1; & | ^: l 3; !: nothing.
    "comparisons and truth": (
        "fn f(a: u8, b: u8, p: bool, q: bool) { let _ = (a < b, a <= b, a > b, a >= b, a == b,"
        " a != b, p == q, p & q, p | q, p ^ q, !p); }"
        "fn main() { f(1, 2, true, false); }",
        ops(c=7, l=3),
    ),
    # f(5): a > 3 && a < 9: c 2 l 1; a > 9 || a > 4: c 2 l 1; (a < 3 || a > 4) && !(a == 7):
    # c 2 l 1, then l 1 c 1. f(1): c 1; c 2 l 1; c 1, l 1 c 1.
    "and, or": (
        "fn f(a: i32) -> i32 { let mut r = 0; if a > 3 && a < 9 { r = 1 }"
        "let p = a > 9 || a > 4; if p { r = 2 }"
        "while (a < 3 || a > 4) && !(a == 7) { break } r }"
        "fn main() { f(5); f(1); }",
        ops(c=2 + 2 + 3 + 1 + 2 + 2, l=1 + 1 + 2 + 0 + 1 + 1),
    ),
    # Conversions, also those that keep within bounds, from truth values and enums: nothing.
    "casts": (
        "#[allow(dead_code)] #[derive(Clone, Copy)] enum E { A = 3, B = 7 }"
        "fn f(a: i64, d: f64, p: bool, e: E, c: char) {"
        "let _ = (a as i8, a as f32, d as u8, p as i32, e as u8, c as u32, a as u8 as char,"
        " &a as *const i64 as usize); }"
        "fn main() { f(300, 1e9, true, E::B, 'x'); }",
        ops(),
    ),
    # Patterns test without operators: ranges, lists, slices, tags, floating point. The guard of
    # `n if n > 3 && n < 100` for 9: c 2 l 1; *a + *b: a 1.
    "patterns": (
        "#[allow(dead_code)] enum E { A(u32), B(bool), C }"
        "fn f(x: i32, v: &[i32], e: E, d: f64, o: Option<&i32>) -> i32 {"
        "match x { 1..=5 => 1, 6 | 7 => 2, n if n > 3 && n < 100 => 3, _ => 4 };"
        "if let 1..=5 = x { return 2 }"
        "match v { [] => 0, [a] => *a, [a, .., b] => *a + *b };"
        "match d { 1.0 => 1, -2.5 | 3e2 => 2, _ => 3 };"
        "let [p, q] = [x, x]; let (r, _) = (p, q);"
        "match e { E::A(n) => n as i32, E::B(_) => 3, E::C => 4 };"
        "match o { Some(n) => *n, None => r } }"
        "fn main() { f(9, &[1, 2, 3], E::B(true), 3e2, Some(&3)); }",
        ops(a=1, l=1, c=2),
    ),
    # v[i]: x 1; m[i][j]: x 2; s.w[i]: x 1; v[2]: x 1; v[i] += 1: x 1 a 1; v[1] += 1: x 1 a 1;
    # &v[i], &mut v[2]: x 2; m[1][i]: x 2; v[v[0]]: x 2; T[i]: x 1; T[1] is a constant.
    # w[2] + m[1][2]: x 3 a 1; [..] is the library's and does nothing.
    "dimensions": (
        "struct S { w: [usize; 3] } static T: [usize; 2] = [1, 2];"
        "fn f(v: &mut [usize; 3], m: &[[usize; 3]; 2], s: S, i: usize, j: usize) {"
        "let _ = v[i]; let a = v[i] ; let b = m[i][j]; let c = s.w[i]; let d = v[2];"
        "v[i] += 1; v[1] += 1; let e = &v[i]; let _ = *e; let g = &mut v[2]; *g = a;"
        "let h = m[1][i]; let k = v[v[0]]; let t = T[i]; let u = T[1];"
        "let w = &[1, 2, 3][..]; let _ = w[2] + m[1][2];"
        "let _ = (b, c, d, h, k, t, u); }"
        "fn main() { f(&mut [0, 1, 2], &[[1; 3]; 2], S { w: [1; 3] }, 1, 2); }",
        ops(a=2 + 1, x=1 + 1 + 2 + 1 + 1 + 1 + 1 + 2 + 2 + 2 + 1 + 3),
    ),
    # half(8): % a, == c, / a; half(4): the same; + 1: a. `?` takes apart: nothing.
    "question marks": (
        "fn half(n: i32) -> Option<i32> { if n % 2 == 0 { Some(n / 2) } else { None } }"
        "fn quarter(n: i32) -> Option<i32> { Some(half(half(n)?)? + 1) }"
        "fn main() { quarter(8); }",
        ops(a=2 + 2 + 1, c=2),
    ),
    # Closures, references, generics, operators of one's own: k + x: a 1; *y += 1: a 1;
    # twice(3): T's + in the library: a 1; P + P: a 2; &a + &b in the library: a 1.
    "what operators stand for": (
        "use std::ops::Add; struct P(i32, i32);"
        "impl Add for P { type Output = P;"
        "fn add(self, o: P) -> P { P(self.0 + o.0, self.1 + o.1) } }"
        "fn twice<T: Add<Output = T> + Copy>(t: T) -> T { t + t }"
        "fn f(k: i32) { let g = |x: i32| k + x; let mut z = g(1);"
        "let y = &mut z; *y += 1; twice(k);"
        "let _ = P(k, k) + P(k, 2); let _ = &k + &k; }"
        "fn main() { f(3); }",
        ops(a=1 + 1 + 1 + 2 + 1),
    ),
    # x * y + z: fa 2; -x: fa 1; x % y: fa 1; x < y: fc 1; x == y: fc 1; if they differ: / fa 1.
    "floating point": (
        "fn f(x: f64, y: f64) -> f64 { let mut z = x * y + x; z = -z; z %= y;"
        "if x < y { z = 1.0 } if x == y { z } else { z / x } }"
        "fn main() { f(3.0, 2.0); }",
        ops(fa=2 + 1 + 1 + 1, fc=2),
    ),
    # fib(5): 15 calls; each c 1; the 7 that go on a 3.
    "recursion": (
        "fn fib(n: i32) -> i32 { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }"
        "fn main() { fib(5); }",
        ops(a=21, c=15),
    ),
    # Each adds once, whatever it does on overflow.
    "methods that add": (
        "fn f(a: u8, b: u8) { let _ = (a.wrapping_add(b), a.saturating_add(b),"
        " a.overflowing_add(b)); }"
        "fn main() { f(200, 100); }",
        ops(a=3),
    ),
    # loop: n -= 1 a 3, n == 0 c 3; 'outer: i < 9 c 1, j < 9 c 1 until the break.
    "loops": (
        "fn f(mut n: i32, mut i: i32) { loop { n -= 1; if n == 0 { break } }"
        "'outer: while i < 9 { let mut j = n; while j < 9 { j = 3; i = 2; break 'outer; } n = j } }"
        "fn main() { f(3, 1); }",
        ops(a=3, c=3 + 1 + 1),
    ),
    # f(1) ends the process before anything is added: n > 0 c 2; + 1: once, a 1.
    "exit within an expression": (
        "fn f(n: i32) -> i32 { if n > 0 { std::process::exit(0) } n }"
        "fn main() { let _ = f(0) + 1; let _ = f(1) + 1; }",
        ops(a=1, c=2),
    ),
    # Drop of one's own: a 1 each for two; what drops them: nothing.
    "drop": (
        "static mut N: i32 = 0; struct D;"
        "impl Drop for D { fn drop(&mut self) { unsafe { N += 1 } } }"
        "fn main() { let _a = [D, D]; }",
        ops(a=2),
    ),
    # n and m are constants by another name: 0; a parameter is not: k * n: a 1, k > n: c 1. What is
    # borrowed is no constant either: w * 2: a 1.
    "constants": (
        "fn f(k: i32) { let n = 10; let m = n * 2; if m > 3 { let _ = k * n; let _ = k > n; }"
        "let w = 7; let r = &w; let _ = (w * 2, r); } fn main() { f(3); }",
        ops(a=2, c=1),
    ),
    # Truth of macros: assert!(n > 0 && n < 9): c 2 l 1; assert_eq!(n, 3): c 1.
    "asserts": (
        "fn f(n: i32) { assert!(n > 0 && n < 9); assert_eq!(n, 3); } fn main() { f(3); }",
        ops(c=3, l=1),
    ),
}

# Programs that use the library, whose code is counted at its own lines; here are the program's.
WITH_LIBRARY = {
    # (a, b): i * i a, % a, == c per pass: 100 passes each; s += a where it is 0. i * i % 4 == 0
    # for even i: 50. Two threads: the same twice.
    "two threads": (
        "use std::thread; fn f(n: u32) -> u32 { let mut s = 0; let mut i = 0; while i < n {"
        "if i * i % 4 == 0 { s += i; } i += 1; } s }\n"
        "fn main() { let t: Vec<_> = vec![thread::spawn(|| f(100)), thread::spawn(|| f(100))];"
        "for h in t { h.join().unwrap(); } }",
        ops(a=2 * (200 + 50 + 100), c=2 * (101 + 100)),
    ),
    # f(0) returns and adds: c 1 a 1; f(1) panics before its addition: c 1; the handler: a 1.
    "unwinding": (
        "fn f(i: i32) -> i32 { if i > 0 { panic!() } i }\n"
        "fn main() { let mut s = f(0) + 1; let r = std::panic::catch_unwind(|| f(1) + 1);"
        "if r.is_err() { s += 5; } std::process::exit(s - 6) }",
        ops(a=1 + 1 + 1, c=2),
    ),
    # The closure: x * 2, 3 times, of a reference: the product is the library's; y + 1 is not.
    "iterators": (
        "fn main() { let v = vec![1, 2, 3]; let s: i32 = v.iter().map(|x| { let y = *x; y + 1 })"
        '.sum(); println!("{}", s); }',
        ops(a=3),
    ),
    # A note that assembly hides something stands beside; + 1: a 1.
    "assembly": (
        'fn main() { let x: u64; unsafe { std::arch::asm!("mov {}, 5", out(reg) x) }'
        "let _ = x + 1; }",
        ops(a=1),
    ),
    # An index out of bounds: 1 addressing, and what stands behind it is not reached.
    "an index out of bounds": (
        "fn f(v: &[i32], i: usize) -> i32 { v[i] + 1 }\n"
        "fn main() { let r = std::panic::catch_unwind(|| f(&[1], 3)); assert!(r.is_err()); }",
        ops(x=1),
    ),
}


def launch(command, variables):
    """Run a command with variables."""
    environment = {**os.environ, **variables, "RUST_BACKTRACE": "0"}
    done = subprocess.run(command, env=environment, check=False, capture_output=True)
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Run(exit_status=status, wall_s=1.0, cpu_s=1.0)


@pytest.fixture
def counted(tmp_path):
    """Compile and count a text; tell all of it, and what its own lines did."""

    def count_text(text, *flags, suffix=".rs"):
        source = tmp_path / f"program{suffix}"
        source.write_text(text)
        quiet = "-Awarnings" if suffix == ".rs" else "-w"
        with built([str(source)], [quiet, *flags], say=print, with_plain=False) as (counting, _):
            result = count([str(counting)], launch=launch)
        own = [line.operations for line in result.lines if line.file == str(source)]
        return result, sum(own, BasicOperations())

    return count_text


@pytest.mark.parametrize("flag", [pytest.param("-O0", marks=pytest.mark.slow), "-O2"])
@pytest.mark.parametrize("name", CASES)
def test_rust_counts_what_a_careful_reader_counts(counted, name, flag):
    """Whatever the compiler makes of it, the source says how much there is to do."""
    text, expected = CASES[name]

    result, _ = counted(text, flag)

    assert result.operations == expected
    assert result.complete


@pytest.mark.parametrize("flag", [pytest.param("-O0", marks=pytest.mark.slow), "-O3"])
@pytest.mark.parametrize("name", WITH_LIBRARY)
def test_lines_of_the_program_count_beside_those_of_the_library(counted, name, flag):
    """Each at its own place."""
    text, expected = WITH_LIBRARY[name]

    result, own = counted(text, flag)

    assert own == expected
    assert result.complete
    assert result.exit_status == 0


@pytest.mark.parametrize("name", ["operators of integers", "dimensions", "methods that add"])
def test_checks_of_overflow_change_nothing(counted, name):
    """They are rustc's, and not in the source."""
    text, expected = CASES[name]

    result, _ = counted(text, "-C", "overflow-checks=on")

    assert result.operations == expected


PAIRS = {
    "sieve": (
        "int main(void) { static unsigned char s[1000]; int n = 1000, found = 0;"
        "for (int i = 2; i < n; i++) { if (s[i] == 0) { found++;"
        "for (int k = i * i; k < n; k += i) s[k] = 1; } } return found != 168; }",
        "fn main() { let mut s = [0u8; 1000]; let mut n = 1000; n += 0; n -= 0;"
        "let mut found = 0; let mut i = 2; while i < n { if s[i] == 0 { found += 1;"
        "let mut k = i * i; while k < n { s[k] = 1; k += i; } } i += 1; }"
        "std::process::exit((found != 168) as i32) }",
    ),
    "product of matrices": (
        "double a[9][9], b[9][9], c[9][9]; int main(void) { for (int i = 0; i < 9; i++)"
        "for (int j = 0; j < 9; j++) for (int k = 0; k < 9; k++)"
        "c[i][j] += a[i][k] * b[k][j]; return 0; }",
        "fn main() { let (a, b) = ([[1.0; 9]; 9], [[2.0; 9]; 9]); let mut c = [[0.0; 9]; 9];"
        "for i in 0..9 { for j in 0..9 { for k in 0..9 { c[i][j] += a[i][k] * b[k][j]; } } } }",
    ),
    "collatz": (
        "int main(void) { long n = 27, steps = 0; while (n != 1 && steps < 500) {"
        "if (n % 2 == 0) n /= 2; else n = 3 * n + 1; steps++; } return steps != 111; }",
        "fn main() { let mut n = 27i64; let mut steps = 0; while n != 1 && steps < 500 {"
        "if n % 2 == 0 { n /= 2 } else { n = 3 * n + 1 } steps += 1; }"
        "std::process::exit((steps != 111) as i32) }",
    ),
}
# `n += 0; n -= 0;` keep rustc from taking n for a constant: a 2 more.
MORE = {"sieve": ops(a=2)}


@pytest.mark.parametrize("name", PAIRS)
def test_the_same_program_counts_the_same_in_c(counted, name):
    """Class by class, by two compilers and two sets of rules."""
    c, rust = PAIRS[name]

    in_c, _ = counted(c, "-O1", suffix=".c")
    in_rust, _ = counted(rust, "-O1")

    assert in_rust.operations == in_c.operations + MORE.get(name, ops())
    assert (in_c.exit_status, in_rust.exit_status) == (0, 0)


def test_only_assembly_that_does_something_is_told(counted):
    """The library's barriers are empty."""
    with_assembly, _ = counted(WITH_LIBRARY["assembly"][0])
    without, _ = counted("fn main() {}")

    assert [one.code for one in with_assembly.cautions] == ["inline-assembly"]
    assert without.cautions == ()


def test_a_crate_of_several_files_counts_by_file(tmp_path):
    """Modules in files of their own; names with blanks in them."""
    folder = tmp_path / "a crate"
    folder.mkdir()
    (folder / "main.rs").write_text("mod part;\nfn main() { part::f(1); }\n")
    (folder / "part.rs").write_text(
        "pub fn f(n: i32) -> i32 {\n    match n { 1..=5 => n + 1, _ => n }\n}\n"
    )

    with built([str(folder / "main.rs")], ["-O2"], say=print) as (counting, plain):
        result = count([str(counting)], launch=launch)
        subprocess.run([plain], check=True)

    assert [(line.file, line.line) for line in result.lines] == [(str(folder / "part.rs"), 2)]
    assert result.operations == ops(a=1)
    assert [one.name.split("::")[:3] for one in result.functions] == [["main", "part", "f"]]
