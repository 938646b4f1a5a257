"""Progress in notebooks, with an IPython that is made up."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from ridgepoint.core.notebook import is_notebook, shows_progress


@shows_progress("fraction")
def measure(n, *, progress=None):
    """Report n steps, and return whether anybody listens."""
    for done in range(n):
        if progress is not None:
            progress(f"<step {done}>", done, n)
    return progress is not None


@pytest.fixture
def displayed(monkeypatch):
    """Give what a notebook displays, first as displayed and then as updated."""
    shown = []

    def display(content, *, raw, display_id):
        assert raw
        assert display_id
        shown.append(content)
        return SimpleNamespace(update=lambda content, raw: shown.append(content))

    ipython, displays = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    displays.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    monkeypatch.setattr("ridgepoint.show.notebook_progress._BETWEEN_S", 0.0)
    return shown


def test_a_notebook_shows_each_step_and_clears_the_line(displayed):
    """The first step makes it appear; texts are escaped."""
    assert measure(2)
    assert [content["text/plain"] for content in displayed] == [
        "measuring the machine: <step 0>, 0 of 2",
        "measuring the machine: <step 1>, 1 of 2",
        "",
    ]
    assert '<progress value="1" max="2">' in displayed[1]["text/html"]
    assert "&lt;step 1&gt;" in displayed[1]["text/html"]


def test_what_is_ready_at_once_shows_nothing(displayed):
    """A machine that is kept needs no progress."""
    measure(0)

    assert displayed == []


def test_an_error_clears_the_line(displayed):
    """The traceback follows, and says more."""

    @shows_progress("step", keyword="report")
    def fails(*, report=None):
        report("counting")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fails()

    assert [content["text/plain"] for content in displayed] == ["counting", ""]


def test_a_progress_of_ones_own_takes_its_place(displayed):
    """Nothing is displayed then."""
    steps = []
    measure(2, progress=lambda *step: steps.append(step))

    assert (len(steps), displayed) == (2, [])


@pytest.mark.parametrize("shell", [None, SimpleNamespace()])
def test_elsewhere_nothing_is_shown(displayed, monkeypatch, shell):
    """Neither in a script nor in a shell of IPython, which has no kernel."""
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)

    assert not is_notebook()
    assert not measure(2)
    assert displayed == []


def test_without_ipython_nothing_is_imported(monkeypatch):
    """A script pays nothing."""
    monkeypatch.delitem(sys.modules, "IPython", raising=False)

    assert not measure(1)
    assert "IPython" not in sys.modules
