"""Try the wheels where a user is: bare root file systems, an ordinary user, no network.

    python tools/wheels/bare.py DIST [--suite NAME]... [--restricted NAME] [-o FOLDER]

DIST is the folder of the wheels that would be published, as `make wheels` fills it. Each suite's
root file system has Python and its ``venv`` and neither compiler nor Valgrind; `mmdebstrap` makes
it once. In it, `pip install` takes the wheels and what they depend on from a folder; the first
`ridgepoint run` follows, then the rest of `trials`. In the suite of ``--restricted`` (trixie, or
none) each restriction is tried alone, such as Docker's filter of system calls.

The results are printed as Markdown; ``-o`` keeps them, ``bare.json`` and ``bare.md``, with all
that was printed. The status is 1 if anything fails otherwise than in one line, 2 if it cannot be
tried here. Root is not needed where users may make user namespaces.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import trials
from outcomes import Result, Tried, markdown
from roots import SUITES, NoRoot, lacks_tools, missing_tools, root_of, seccomp_profile
from sandbox import HOME, VENV, WHEELS, Done, Places, Sandbox, run
from trials import Trial, Verdict

ARCHIVE = f"{HOME}/archive.sqlite3"
_PLATFORMS = ("manylinux2014_x86_64", *(f"manylinux_2_{n}_x86_64" for n in range(17, 36)))
_SAID = 400


class CannotTry(Exception):
    """It cannot be tried here; the message says why."""


def wheelhouse(dist: Path, cache: Path, python: str) -> Path:
    """Return a folder with our wheels and all that they depend on, for a version of Python.

    Parameters
    ----------
    dist : Path
        Our wheels.
    cache : Path
        Where what was downloaded is kept.
    python : str

    Raises
    ------
    CannotTry
        If the dependencies are not to be had.
    """
    ours = sorted(dist.glob("ridgepoint*.whl"))
    if not ours:
        raise CannotTry(f"there is no wheel in {dist}: make wheels")
    folder = cache / f"wheels-{python}"
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("ridgepoint*.whl"):
        stale.unlink()
    for wheel in ours:
        shutil.copyfile(wheel, folder / wheel.name)
    platforms = [word for name in _PLATFORMS for word in ("--platform", name)]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:"),
            *("--python-version", python, "--implementation", "cp", *platforms),
            # By path: a name could be someone else's on an index.
            *("--dest", str(folder), *(str(folder / wheel.name) for wheel in ours)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CannotTry(f"pip download: {done.stderr.strip()[-_SAID:]}")
    return folder


def install(places: Places, python: str, trial: Trial) -> tuple[Done, Done, Done]:
    """Make a virtual environment in a sandbox, install into it, and run a first program.

    Returns
    -------
    tuple of Done
        Of the environment, the installation, the first run.
    """
    writable = Sandbox(venv_writable=True, environment={"RIDGEPOINT_ARCHIVE": ARCHIVE})
    made = run([f"python{python}", "-m", "venv", VENV], places, writable)
    has_engine = any(places.wheels.glob("ridgepoint_engine-*.whl"))
    wanted = "ridgepoint[engine]" if has_engine else "ridgepoint"
    pip = (f"{VENV}/bin/pip", "install", "--no-index", "--find-links", WHEELS, wanted)
    installed = run(["env", "PIP_DISABLE_PIP_VERSION_CHECK=1", *pip], places, writable)
    return made, installed, run(trial.command, places, writable)


def tried(
    name: str, *, root: Path, wheels: Path, scratch: Path, report: Reporter
) -> tuple[Tried, Places]:
    """Return what works in a root file system without further restrictions, and its folders.

    Raises
    ------
    CannotTry
        If the wheels cannot be installed.
    """
    suite = SUITES[name]
    places = Places(
        root=root,
        wheels=wheels,
        venv=scratch / "venv",
        home=scratch / "home",
        temporary=scratch / "tmp",
    )
    places.make()
    (places.home / trials.PROGRAM).write_text(trials.PROGRAM_TEXT, encoding="utf-8")
    report(f"{suite.system}: pip install")
    made, installed, first = install(places, suite.python, trials.FIRST)
    for done in (made, installed):
        if done.status != 0:
            raise CannotTry(f"{suite.system}: {done.complaints.strip()[-_SAID:]}")
    found = Tried(
        suite=name,
        system=suite.system,
        python=_said(["python", "-c", "import platform as p; print(p.python_version())"], places),
        glibc=_said(
            ["python", "-c", "import os; print(os.confstr('CS_GNU_LIBC_VERSION'))"], places
        ).removeprefix("glibc "),
        is_bare=lacks_tools(root),
        install_s=installed.wall_s,
        to_verdict_s=installed.wall_s + first.wall_s,
        installed_bytes=sum(
            path.stat().st_size
            for path in places.venv.rglob("ridgepoint*/**/*")
            if path.is_file() and not path.is_symlink() and path.suffix != ".pyc"
        ),
        results=[_result(trials.FIRST, first, report)],
    )
    usual = Sandbox(environment={"RIDGEPOINT_ARCHIVE": ARCHIVE})
    for trial in trials.EVERYWHERE:
        found.results.append(_result(trial, run(trial.command, places, usual), report))
    return found, places


def _said(command: Sequence[str], places: Places) -> str:
    return run(command, places, Sandbox()).output.strip()


def _result(trial: Trial, done: Done, report: Reporter) -> Result:
    verdict = trial.judged(done)
    said = done.complaints.strip() or done.output.strip()
    ours = [line for line in said.splitlines() if line.startswith("ridgepoint: cannot ")]
    result = Result(
        trial=trial.name,
        verdict=verdict,
        status=done.status,
        wall_s=done.wall_s,
        said="" if verdict == "works" else (ours[-1] if ours else said[-_SAID:]),
    )
    report(f"  {verdict} ({done.status}, {done.wall_s:.1f} s): {trial.name}", done)
    return result


class Reporter:
    """Says on standard error what goes on, and keeps all that commands said in a file."""

    def __init__(self, log: Path | None) -> None:
        self._log = log

    def __call__(self, line: str, done: Done | None = None) -> None:
        """Say a line; keep it with what a command said."""
        print(line, file=sys.stderr, flush=True)
        if self._log is not None:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
                if done is not None:
                    file.write(f"{done.output}{done.complaints}\n")


def system_calls(profile: Path, scratch: Path, forbidden: Sequence[str]) -> Path:
    """Write Docker's filter of system calls, which also forbids some, and return its file.

    Raises
    ------
    CannotTry
        If Debian's python3-seccomp is not there, or the filter cannot be made.
    """
    made = scratch / "-".join(("docker", *forbidden))
    script = Path(__file__).with_name("seccomp_filter.py")
    without = [word for name in forbidden for word in ("--forbid", name)]
    done = subprocess.run(
        ["/usr/bin/python3", script, profile, made, *without],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CannotTry(f"no filter of system calls: {done.stderr.strip()[-_SAID:]}")
    return made


def try_restrictions(
    found: Tried, places: Places, profile: Path, scratch: Path, report: Reporter
) -> None:
    """Add to what was found what happens under each restriction."""
    for restriction in trials.RESTRICTIONS:
        report(f"{found.system}: {restriction.name}")
        sandbox = restriction.sandbox
        environment = {"RIDGEPOINT_ARCHIVE": ARCHIVE, **sandbox.environment}
        filtered = (
            None if sandbox.forbidden is None else system_calls(profile, scratch, sandbox.forbidden)
        )
        with_archive = replace(sandbox, environment=environment)
        found.restricted[restriction.name] = [
            _result(trial, run(trial.command, places, with_archive, system_calls=filtered), report)
            for trial in restriction.trials
        ]


def try_refusals(found: Tried, places: Places, report: Reporter) -> None:
    """Add what pip says where the wheels do not fit: another architecture, an older C library."""
    for name, platform in (
        ("pip on aarch64", "manylinux_2_28_aarch64"),
        ("pip with glibc 2.5", "manylinux1_x86_64"),
    ):
        command = (
            *("pip", "download", "--no-index", "--no-deps", "--only-binary=:all:"),
            *("--platform", platform, "--find-links", WHEELS, "--dest", "/tmp/none", "ridgepoint"),
        )
        done = run(command, places, Sandbox())
        line = next((line for line in done.complaints.splitlines() if "ERROR" in line), "")
        verdict: Verdict = "refused in one line" if done.status == 1 and line else "fails"
        result = Result(
            trial="pip download", verdict=verdict, status=done.status, wall_s=done.wall_s, said=line
        )
        report(f"{name}: {verdict}: {line}", done)
        found.restricted[name] = [result]


def main() -> int:
    """Try all, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dist", type=Path, help="folder of the wheels")
    parser.add_argument("--suite", action="append", choices=list(SUITES), dest="suites")
    parser.add_argument("--restricted", default="trixie", choices=[*SUITES, "none"])
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/ridgepoint-bare")
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
    log = None if options.output is None else options.output / "bare.log"
    if log is not None:
        log.unlink(missing_ok=True)
    report = Reporter(log)
    sizes = {path.name: path.stat().st_size for path in sorted(options.dist.glob("*.whl"))}
    if lacking := missing_tools():
        print(f"bare: apt-get install {' '.join(lacking)}", file=sys.stderr)
        return 2
    found, skipped = list[Tried](), dict[str, str]()
    for name in options.suites or list(SUITES):
        try:
            found.append(try_suite(name, options, report))
        except (NoRoot, CannotTry) as error:
            skipped[name] = str(error)
            report(f"{name}: {error}")
    tables = markdown(found, sizes)
    print(tables)
    if options.output is not None:
        document = {"wheels": sizes, "tried": [asdict(one) for one in found], "skipped": skipped}
        (options.output / "bare.json").write_text(json.dumps(document, indent=1) + "\n")
        (options.output / "bare.md").write_text(tables)
    for where, one in (failure for each in found for failure in each.failures):
        print(f"bare: {where}: {one.trial}: {one.said}", file=sys.stderr)
    if not found:
        return 2
    return int(any(each.failures for each in found))


def try_suite(name: str, options: argparse.Namespace, report: Reporter) -> Tried:
    """Return what was found in one suite.

    Raises
    ------
    NoRoot, CannotTry
        If it cannot be tried here.
    """
    suite = SUITES[name]
    report(f"{suite.system}: root file system")
    root = root_of(suite, options.cache)
    wheels = wheelhouse(options.dist, options.cache, suite.python)
    with _scratch() as scratch:
        found, places = tried(name, root=root, wheels=wheels, scratch=scratch, report=report)
        if name == options.restricted:
            profile = seccomp_profile(options.cache)
            try_restrictions(found, places, profile, scratch, report)
            try_refusals(found, places, report)
    return found


@contextmanager
def _scratch() -> Iterator[Path]:
    """Give a folder that an ordinary user may enter, and remove it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="ridgepoint-bare-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
