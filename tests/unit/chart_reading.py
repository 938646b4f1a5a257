"""What tests read off a chart."""

from ridgepoint.show.chart import Chart, Line, Mark


def lines_of(chart: Chart, kind: str) -> list[Line]:
    """Return the lines of a kind."""
    return [line for line in chart.lines if line.kind == kind]


def names_of(chart: Chart, kind: str) -> list[str]:
    """Return what the lines of a kind are."""
    return [line.name for line in lines_of(chart, kind)]


def rate_of(line: Line) -> float:
    """Return the rate of a roof: its height, or its slope in the linear plane."""
    (x, y), (_, end) = line.places
    return y if y == end else y / x


def rates_of(chart: Chart, kind: str) -> dict[str, float]:
    """Return the rates of the roofs of a kind, by the first words of their names."""
    return {line.name.split()[0]: rate_of(line) for line in lines_of(chart, kind)}


def marks_of(chart: Chart, name: str) -> list[Mark]:
    """Return the marks of a name, without caps over them."""
    return [mark for mark in chart.marks if mark.name == name and mark.shape != "cap"]


def caps_of(chart: Chart, name: str) -> list[Mark]:
    """Return the caps of a name."""
    return [mark for mark in chart.marks if mark.name == name and mark.shape == "cap"]


def notes_of(chart: Chart) -> list[str]:
    """Return the notes but for that of the ridge points, which every machine has."""
    return [note for note in chart.notes if not note.startswith("ridge points")]


def summary_of(chart: Chart, begins: str) -> str:
    """Return the text of the key's entry that begins so, without that."""
    (text,) = [entry.text for entry in chart.key if entry.text.startswith(begins)]
    return text.removeprefix(begins)


def texts_of(chart: Chart) -> list[str]:
    """Return the texts of the key."""
    return [entry.text for entry in chart.key]


def parts_of(chart: Chart) -> list[str]:
    """Return the names of the regions and functions that are drawn, in the order of the key."""
    return [entry.text.partition(":")[0] for entry in chart.key if entry.is_part]
