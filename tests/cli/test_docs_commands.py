"""What the documentation tells a reader to type is accepted, and works on stored records."""

import shlex
import shutil
from dataclasses import replace

import click
import doc_blocks
import kept_records
import pytest

import ridgepoint
import snapshots
from ridgepoint.cli.examples import COMMANDS, SUITES
from ridgepoint.cli.main import COMMANDS as _COMMANDS
from ridgepoint.cli.main import group, main
from ridgepoint.cli.suite import SUITES as _SUITES
from ridgepoint.core.documents import encode
from ridgepoint.kept.archive import Archive

PAGES = {path.relative_to(doc_blocks.ROOT).as_posix(): path for path in doc_blocks.PAGES}
HELP = doc_blocks.help_commands()
EXAMPLES = {**COMMANDS, **{f"suite {name}": cases for name, cases in SUITES.items()}}
TYPED = {name: doc_blocks.commands(path) for name, path in PAGES.items()}


def parsed(command):
    """Let the command line read a command without running it, down to the type of each value."""
    context = group.make_context("ridgepoint", list(command.words))
    while isinstance(context.command, click.Group):
        words = [*context._protected_args, *context.args]
        with context:
            name, chosen, rest = context.command.resolve_command(context, words)
            if command.prose and not isinstance(chosen, click.Group):
                # Words in capitals stand for values: only that the options exist can be told.
                own = click.Context(chosen, info_name=name, parent=context)
                chosen.make_parser(own).parse_args(args=list(rest))
                return
            context = chosen.make_context(name, list(rest), parent=context)


def complaint(command):
    """Return why a command is not accepted; None: it is."""
    try:
        parsed(command)
    except click.ClickException as error:
        return f"{command.place}: ridgepoint {shlex.join(command.words)}: {error.format_message()}"
    except click.exceptions.Exit:
        pass  # --help and --version
    return None


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page_are_accepted(page, tmp_path, monkeypatch):
    """Each command, option and value of its blocks; of its sentences, each command and option."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "access.log").write_text("GET / 404\n")
    quoted = doc_blocks.inline_commands(PAGES[page])

    assert [said for one in (*TYPED[page], *quoted) if (said := complaint(one))] == []


@pytest.mark.parametrize("name", HELP)
def test_examples_of_help_are_accepted(name, tmp_path, monkeypatch):
    """Each is of its own command, and short enough for a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    lines = [line for words in EXAMPLES[name] for line in words]

    assert [said for one in HELP[name] if (said := complaint(one))] == []
    assert HELP[name]
    assert all(" ".join(one.words).startswith(name) for one in HELP[name][:1])
    assert max(map(len, lines)) <= 74


def test_every_command_has_examples():
    """Except the compilers, which have no help of their own."""
    assert set(_COMMANDS) - {"cc", "c++"} == set(COMMANDS)
    assert set(SUITES) == set(_SUITES)


def test_a_command_that_is_none_is_found(tmp_path):
    """The tests above can fail: with an option, a command or a value that there is not."""
    page = doc_blocks.ROOT / "docs" / "made_up.md"
    wrong = ("lisst", "list --colour", "run --cores many -- ./a")
    for words in wrong:
        line = doc_blocks.Command(
            page=page.name, line=1, words=tuple(shlex.split(words)), shell=words
        )
        assert complaint(line)


_STANDS_FOR = {
    "README.md": {"1": "bench"},
    "docs/gpu.md": {"7": "gpu"},
    "docs/network.md": {"7": "node"},
    "docs/records.md": {"2": "spare", "3": "after"},
    "docs/rooflines.md": {"1": "bench"},
    "note --help": {"3": "after"},
    "name --help": {"3": "after"},
    "delete --help": {"3": "spare", "bench": "unused"},
}
"""The stored records that the numbers of a page stand for."""
_DATA = doc_blocks.ROOT / "tests" / "data" / "scaling"
_PRICES = '[prices]\nbench = "0.9 USD/h"\ncsb = "0.4 USD/h"\n'
_POINTS = "[spmv]\nwork = 2e9\nmemory_bytes = 12e9\nnetwork_bytes = 80e6\n"


@pytest.fixture(scope="module")
def stored():
    """Return a folder with an archive of every kind of record, and what pages name."""
    with snapshots.bench() as at, Archive(at.folder / "archive.sqlite3") as archive:
        for label, document in (("spare", "norm"), ("after", "heat")):
            machine = archive.require("vm").id
            archive.keep_measurement(kept_records.document(document), machine, label=label)
        archive.keep_machine(kept_records.document("vm"), label="unused")
        archive.keep_measurement(
            kept_records.document("heat"), archive.require("vm").id, label="before"
        )
        for _ in range(2):
            machine = archive.require("vm").id
            archive.keep_measurement(kept_records.document("heat"), machine, label="nightly")
        for label in ("two-nodes", "four-nodes"):
            machine = archive.require("cluster").id
            archive.keep_measurement(kept_records.document("ranks"), machine, label=label)
        node = ridgepoint.with_network(kept_records.document("vm"), 12e9)
        archive.keep_machine(node, label="node")
        (at.folder / "node.json").write_bytes(encode(node))
        (at.folder / "points.toml").write_text(_POINTS)
        (at.folder / "prices.toml").write_text(_PRICES)
        (at.folder / "script.py").write_text("print(sum(range(1000)))\n")
        (at.folder / "access.log").write_text("GET / 404\n")
        rows = (_DATA / "polynomial.csv").read_text().splitlines()
        one_core = [row for row in rows if row.startswith("nodes") or row.split(",")[1] == "1"]
        (at.folder / "one_core.csv").write_text("\n".join(one_core) + "\n")
        (at.folder / "fft_made_up.csv").write_bytes((_DATA / "fft_made_up.csv").read_bytes())
        jobs = [
            block for block in doc_blocks.blocks(PAGES["docs/scaling.md"]) if "[job." in block.text
        ]
        (at.folder / "jobs.toml").write_text(jobs[0].text)
        for program in ("heat", "program", "prog", "solver"):
            (at.folder / program).write_text("#!/bin/sh\n")
            (at.folder / program).chmod(0o755)
        ridgepoint.import_records(
            doc_blocks.ROOT / "tests" / "data" / "tutorials.sqlite3", archive=archive.path
        )
        for folder in ("base", "baselines"):
            (at.folder / folder).mkdir()
            ridgepoint.export_record(
                "heat", at.folder / folder / "before.json", archive=archive.path
            )
        for name in ("other", "node1", "node2"):
            with Archive(at.folder / f"{name}.sqlite3") as other:
                other.keep_machine(replace(node, name=name), label=name)
        yield at.folder


@pytest.fixture
def bench(stored, tmp_path, monkeypatch, meter):
    """Stand in a copy of that folder; no program is counted, and no machine is measured."""
    folder = tmp_path / "bench"
    shutil.copytree(stored, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", str(folder / "archive.sqlite3"))
    here = kept_records.document("vm")
    monkeypatch.setattr("ridgepoint.ceilings.characterize", lambda **_: here)
    operators = kept_records.OPERATORS["training"]
    script = "ridgepoint.profiling.operators.script.profile_script"
    monkeypatch.setattr(script, lambda command, **_: operators)


def result(command, capfd):
    """Run a command; return what is wrong: its status, or a line of the page that it lacks."""
    words = [_STANDS_FOR.get(command.page, {}).get(word, word) for word in command.words]
    if words[0] == "run" and "--machine" not in words:
        words[1:1] = ["--machine", "bench", "--repeat", "1"]
    capfd.readouterr()
    status = main(words)
    printed, complained = capfd.readouterr()
    if status:
        return f"{command.place}: status {status}: {complained}"
    if depends_on_this_host(command):
        return ""
    lines = {" ".join(line.split()) for line in printed.splitlines()}
    shown = [" ".join(line.split()) for line in command.output]
    missing = [line for line in shown if line not in ("", "...") and not _is_among(lines, line)]
    return f"{command.place}: it does not print {missing[0]!r}" if missing else ""


def _is_among(lines, shown):
    """Return whether a line was printed; the page may end it with three dots."""
    begins = shown.removesuffix("...")
    return shown in lines or (begins != shown and any(line.startswith(begins) for line in lines))


def depends_on_this_host(command):
    """Return whether a page shows what it printed where it was written."""
    words = " ".join(command.words)
    if words.startswith("show") and command.page.startswith("docs/tutorial_"):
        return False  # of a record that is stored
    return words.startswith(("run", "machine", "doctor", "list", "suite", "show")) or (
        "imaging" in words
    )


def draws(command):
    """Return whether a command draws, which takes a second."""
    return bool({"-o", "--figures"} & set(command.words))


def wrong(commands, capfd):
    """Run those commands that are run, one after the other; return what is wrong with each."""
    chosen = [command for command in commands if not doc_blocks.why_not_run(command)]
    return [said for command in chosen if (said := result(command, capfd))]


_RUN = [
    name
    for name, commands in TYPED.items()
    if any(not doc_blocks.why_not_run(command) for command in commands)
]
_DRAW = [name for name in _RUN if any(draws(command) for command in TYPED[name])]


@pytest.mark.usefixtures("bench")
@pytest.mark.parametrize("page", _RUN)
def test_commands_of_a_page_work(page, capfd):
    """On stored records, with a scripted meter; they print what the page shows."""
    assert wrong([command for command in TYPED[page] if not draws(command)], capfd) == []


@pytest.mark.slow
@pytest.mark.usefixtures("bench")
@pytest.mark.parametrize("name", HELP)
def test_examples_of_help_work(name, capfd):
    """As the commands of pages do."""
    assert wrong(HELP[name], capfd) == []


@pytest.mark.slow
@pytest.mark.usefixtures("bench")
@pytest.mark.parametrize("page", _DRAW)
def test_commands_of_a_page_work_with_those_that_draw(page, capfd):
    """All of a page, one after the other."""
    assert wrong(TYPED[page], capfd) == []
