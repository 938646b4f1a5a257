"""Records with names, notes and options: ``list``, ``show``, ``plot``, ``name``, ``delete``."""

import json

import pytest

pytestmark = pytest.mark.usefixtures("meter")


@pytest.fixture
def kept(cli):
    """Return a command line whose archive has a machine (1) and two measurements on it."""
    assert cli.run("--name", "before", "--note", "no blocking", "--", "true")[0] == 0
    assert cli.run("--cores", "2", "--cold", "--region", "r", "--", "true")[0] == 0
    return cli


def listed(cli):
    """Return the records of the list, by number."""
    return {one["id"]: one for one in json.loads(cli("list", "--json")[1])["records"]}


def refused(result, *words):
    """Assert one line of ours that says what is wrong, and status 2."""
    status, out, err = result

    assert (status, out) == (2, "")
    assert all(word in err for word in words), err


def test_a_run_says_its_name_and_the_list_has_name_note_and_options(cli):
    """The options that only say what is shown are left out."""
    said = cli.run("--name", "before", "--note", "no blocking", "--no-plot", "--", "true")[2]
    cli.run("--work", "bops", "--what-if", "l1=32k:8", "--cold", "--region", "a b", "--", "true")
    records = listed(cli)

    assert "kept as 2, 'before' (ridgepoint show 2)" in said
    assert (records[2]["label"], records[2]["note"]) == ("before", "no blocking")
    assert records[2]["summary"]["options"] == ["--repeat 1"]
    assert records[3]["summary"]["options"] == [
        "--repeat 1",
        "--what-if l1=32k:8",
        "--region 'a b'",
        "--cold",
        "--work bops",
    ]
    assert records[3]["label"] is None


def test_a_list_tells_records_apart(kept):
    """Both are of the same command."""
    said = kept("list")[1]

    assert "before" in said
    assert "no blocking" in said
    assert "--region r --cold --cores 2" in " ".join(said.split())


def test_a_list_is_cut_and_says_so(kept, monkeypatch):
    """The last records unless all are wanted; programs get all; a choice is not called a cut."""
    monkeypatch.setattr("ridgepoint.cli.list._SHOWN", 2)
    status, out, err = kept("list")

    assert status == 0
    assert "machine" not in out
    assert "the last 2 of 3 records; --all" in err
    assert kept("list", "--all")[1].count("machine") == 1
    assert kept("list", "--last", "1")[1].count("measurement") == 1
    assert kept("list", "--kind", "machine")[2] == ""
    assert [one["id"] for one in json.loads(kept("list", "--json")[1])["records"]] == [1, 2, 3]
    assert list(listed(kept)) == [1, 2, 3]
    assert kept("list", "--csv", "-")[1].count("\n") == 4
    assert "before" in kept("list", "--name", "FORE")[1]
    assert kept("list", "--name", "zzz")[1] == "None of the 3 records that are kept is like that.\n"


@pytest.mark.parametrize(
    "options", [("--last", "0"), ("--last", "x"), ("--kind", "x"), ("--all", "--last", "2")]
)
def test_a_list_refuses_wrong_options(kept, options):
    """In our words, with status 2."""
    refused(kept("list", *options), "last" if "--last" in options else "kind")


def test_cores_and_work_are_shown_again_as_they_were_measured(cli):
    """Without the option 'show' placed the program by the cores that it kept busy."""
    cli.run("--cores", "4", "--", "true")
    cli.run("--work", "bops", "--", "true")

    assert json.loads(cli("show", "2", "--json")[1])["bound"]["cores"] == 4
    assert json.loads(cli("show", "3", "--json")[1])["work_is"]["metric"] == "bop"
    assert json.loads(cli("show", "3", "--work", "flop", "--json")[1])["work_is"]["metric"] == (
        "flop"
    )
    refused(cli("plot", "2", "3"), "'--work'", "--work flop or --work bops")
    assert cli("plot", "2", "3", "--work", "flop")[0] == 0


def test_several_records_are_shown(kept):
    """As text one after the other, as JSON in one object."""
    status, said, _ = kept("show", "2", "before", "1")
    shown = json.loads(kept("show", "2", "3", "--json")[1])

    assert status == 0
    assert said.count("counted by") == 2
    assert "measured" in said
    assert (shown["kind"], len(shown["records"])) == ("records", 2)
    assert shown["records"][0]["kind"] == "run"


def test_a_name_is_taken_wherever_a_number_is(kept):
    """Of a machine too; a number is always that of a record."""
    assert kept("name", "1", "bench")[0] == 0

    assert json.loads(kept("show", "bench", "--json")[1])["kind"] == "machine"
    assert kept("plot", "before")[0] == 0
    assert kept("show", "before")[0] == 0
    assert kept("run", "--machine", "bench", "--repeat", "1", "--", "true")[0] == 0
    assert listed(kept)[4]["machine_id"] == 1
    refused(kept("run", "--machine", "before", "--", "true"), "cannot find machine 2")
    refused(kept("show", "befor"), "no kept record has this name")
    refused(kept("plot", "befor"), "did you mean 'before'")


def test_names_and_notes_change_and_go(kept):
    """An empty one takes the old one away."""
    assert "2 is 'first'" in kept("name", "before", "first")[2]
    assert kept("note", "first", "two\nlines")[0] == 0
    assert listed(kept)[2]["note"] == "two\nlines"
    kept("note", "first", "")
    kept("name", "first", "")

    assert (listed(kept)[2]["label"], listed(kept)[2]["note"]) == (None, None)


@pytest.mark.parametrize("name", ["7", "a/b", "x.json", "a100", " "])
def test_a_name_that_reads_as_something_else_is_refused_before_measuring(cli, name):
    """Nothing is kept."""
    refused(cli.run("--name", name, "--", "true"), "--name")
    assert not cli.archive.exists()


def test_records_are_deleted_and_it_is_said_which(kept):
    """A machine that bounds measurements only with them."""
    refused(kept("delete", "3", "1"), "measurements 2", "--with-measurements")
    assert len(listed(kept)) == 3
    status, _, err = kept("delete", "3")

    assert status == 0
    assert "ridgepoint: deleted measurement 3: " in err
    assert "deleted measurement 2, 'before': " in kept("delete", "1", "--with-measurements")[2]
    assert listed(kept) == {}


@pytest.mark.parametrize("targets", [(), ("9",), ("nobody",), ("2", "9")])
def test_what_cannot_be_deleted_is_refused_and_nothing_is(kept, targets):
    """All or none."""
    refused(kept("delete", *targets))
    assert len(listed(kept)) == 3
