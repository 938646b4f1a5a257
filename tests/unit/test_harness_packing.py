import ctypes
import multiprocessing.spawn
import pickle
import subprocess
import sys
from operator import methodcaller

import numpy as np
import pytest

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.profiling.calls import subject
from ridgepoint.profiling.calls.packing import pack, pack_function, unpack_function

WHAT = "cannot measure 'f'"
LIBC = ctypes.CDLL(None)


def double(x):
    """Return twice a number."""
    return 2 * x


def absolute(x):
    """Call the C library, whose functions cannot be pickled."""
    return LIBC.abs(x)


def at(offset_bytes, n=100):
    """Return an array that begins so many bytes behind a page."""
    room = np.zeros(3 * 4096, dtype=np.uint8)
    start = -room.ctypes.data % 4096 + offset_bytes
    return room[start : start + 8 * n].view(np.float64)


@pytest.mark.parametrize(("offset_bytes", "expected"), [(0, 0), (64, 64), (4032, 4032), (72, 64)])
def test_copy_begins_with_a_line_at_the_place_in_its_page(offset_bytes, expected):
    """A line of 64 byte; where the array began within one, its copy begins with that line."""
    array = at(offset_bytes)
    array[:] = np.arange(100)
    (copy,) = pack(WHAT, [array]).unpack()

    assert copy.ctypes.data % 4096 == expected
    assert copy.tolist() == list(range(100))
    assert not np.shares_memory(copy, array)


def test_copies_are_of_the_data_as_they_were_packed():
    """Neither a later change of the argument nor one of a copy shows in the next copy."""
    array = np.arange(4.0)
    packed = pack(WHAT, [array])
    array[:] = 7
    packed.unpack()[0][:] = 9

    assert packed.unpack()[0].tolist() == [0, 1, 2, 3]


def test_fortran_order_and_types_stay():
    """A copy lies in memory as its original does."""
    fortran = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    (copy,) = pack(WHAT, [fortran]).unpack()

    assert (copy.flags.f_contiguous, copy.dtype, copy.strides) == (True, np.float32, (4, 8))
    assert copy.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_arrays_inside_of_other_objects_are_copied_apart():
    """Each of them begins with a line."""
    first, second, same = pack(WHAT, [{"x": np.ones(5)}, [np.zeros(3), 4], None]).unpack()

    assert (first["x"].tolist(), second[0].tolist(), second[1], same) == ([1] * 5, [0] * 3, 4, None)
    assert first["x"].ctypes.data % 64 == second[0].ctypes.data % 64 == 0


def test_an_array_passed_twice_is_one_array():
    """As in the call f(x, x)."""
    array = np.ones(4)
    packed = pack(WHAT, [array, array])
    first, second = packed.unpack()

    assert np.shares_memory(first, second)
    assert packed.nbytes == 32


def test_an_array_and_its_transpose_have_one_memory():
    """NumPy multiplies these in another way than two arrays of equal numbers."""
    array = np.arange(6.0).reshape(2, 3)
    packed = pack(WHAT, [array.T, array, array.copy()])
    transposed, same, other = packed.unpack()

    assert transposed.ctypes.data == same.ctypes.data
    assert (transposed.T.tolist(), same.tolist()) == (array.tolist(), array.tolist())
    assert not np.shares_memory(same, other)
    assert packed.nbytes == 2 * 48


def test_read_only_arrays_stay_so():
    """A function that writes to one fails on its copy too."""
    array = np.ones(4)
    array.flags.writeable = False

    assert not pack(WHAT, [array]).unpack()[0].flags.writeable


def test_arrays_of_nothing_and_of_objects_are_arguments():
    """They have no data that could be in a cache."""
    packed = pack(WHAT, [np.zeros(0), np.array(["a", None], dtype=object)])
    empty, objects = packed.unpack()

    assert (empty.size, objects.tolist(), packed.nbytes) == (0, ["a", None], 0)
    assert not packed.holds_zeros_only


@pytest.mark.parametrize(("value", "expected"), [(0.0, True), (1.0, False)])
def test_arrays_of_zeros_are_noticed(value, expected):
    """Memory that was never written is one page to the hardware."""
    assert pack(WHAT, [np.ones(3), np.full(9, value)]).holds_zeros_only is expected


def test_arrays_with_gaps_are_refused():
    """A copy would have other strides."""
    with pytest.raises(CannotMeasure, match="argument 1 is an array with gaps") as caught:
        pack(WHAT, [1, np.arange(10)[::2]])

    assert "slice it inside" in caught.value.remedy


def test_arguments_that_cannot_be_pickled_are_refused():
    """A generator can be used up once."""
    with pytest.raises(CannotMeasure, match="cannot be copied"):
        pack(WHAT, [(each for each in [1])])


def test_function_of_a_module_goes_by_its_name():
    """The other process imports the module, and not the script."""
    preparation, packed = pickle.loads(pack_function(WHAT, np.cumsum))

    assert pickle.loads(packed) is np.cumsum
    assert not [key for key in preparation if key.startswith("init_main")]
    assert "authkey" not in preparation


@pytest.fixture
def prepared(monkeypatch):
    """Unpack here without what is done to a fresh process."""
    monkeypatch.setattr(multiprocessing.spawn, "prepare", lambda preparation: None)


@pytest.mark.usefixtures("prepared")
def test_lambdas_and_closures_go_with_their_code():
    """They have no name that another process could import."""
    factor = 3

    assert unpack_function(pack_function(WHAT, lambda x: factor * x))(5) == 15


def test_function_of_a_closure_over_a_library_is_refused():
    """Neither its name nor its code can be handed over."""
    library = ctypes.CDLL(None)

    with pytest.raises(CannotMeasure, match="cannot be passed to the process that counts it"):
        pack_function(WHAT, lambda x: library.abs(x) + 1)


HANDING_OVER = """
import ctypes, pathlib, sys
from ridgepoint.profiling.calls.packing import pack_function
LIBC = ctypes.CDLL(None)
FACTOR = 4
def times(x): return FACTOR * x
def absolute(x): return LIBC.abs(x)
if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_bytes(pack_function("cannot", globals()[sys.argv[1]]))
"""
TAKING = """
import pathlib, sys
from ridgepoint.profiling.calls.packing import unpack_function
print(unpack_function(pathlib.Path(sys.argv[1]).read_bytes())(-6))
"""


@pytest.mark.parametrize(("name", "expected"), [("times", "-24\n"), ("absolute", "6\n")])
def test_functions_of_a_script_run_in_another_process(tmp_path, name, expected):
    """With its code; or, since it uses a library of ctypes, by the import of its script."""
    script, taker, packed = (tmp_path / each for each in ("script.py", "taker.py", "packed"))
    script.write_text(HANDING_OVER)
    taker.write_text(TAKING)
    subprocess.run([sys.executable, script, name, packed], check=True)
    command = [sys.executable, taker, packed]
    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert done.stdout == expected


async def coroutine():
    """Do nothing, later."""


def generator():
    """Yield nothing."""
    yield


async def asynchronous_generator():
    """Yield nothing, later."""
    yield


@pytest.mark.parametrize("function", [coroutine, generator, asynchronous_generator])
def test_functions_whose_call_runs_nothing_are_refused(function):
    """Their time would be that of making an object."""
    with pytest.raises(CannotMeasure, match="coroutine"):
        subject(function)


def test_what_is_no_function_is_refused():
    """A number, say."""
    with pytest.raises(TypeError, match="must be callable, got 3"):
        subject(3)


@pytest.mark.parametrize(
    ("options", "message"), [({"state": "hot"}, "'warm' or 'cold'"), ({"threads": 0}, "> 0, got 0")]
)
def test_impossible_conditions_are_refused(options, message):
    """Before anything is timed."""
    with pytest.raises(ValueError, match=message):
        subject(double, 1, **options)


def test_subject_takes_the_name_of_its_function_or_of_its_type():
    """A callable object has no name of its own."""
    assert subject(double, 1).name == "double"
    assert subject(methodcaller("sum"), np.ones(3)).name == "methodcaller"
    assert subject(double, 1, name="twice").what == "cannot measure 'twice'"
