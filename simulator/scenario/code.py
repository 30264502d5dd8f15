"""A person's own algorithm: a generator function in a Python file, run only where that is allowed.

Whatever goes wrong in it is said with the line of that file, and without a traceback.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, GeneratorType, ModuleType, TracebackType
from typing import Any, Final, NoReturn

import numpy as np

from algorithms.errors import ScheduleError
from algorithms.schedule import COPY, REDUCE, Lists, Ranges, Step
from simulator.scenario.errors import ScenarioError, ScenarioErrors, did_you_mean
from simulator.scenario.parse import MAX_BYTES
from topologies.text import printable

MOST_STEPS: Final = 1 << 20
"""Steps that an algorithm may yield: one that never ends is stopped."""

_LARGEST: Final = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Place:
    """A line and column, from 1, of a person's file."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a person's file.

    Attributes
    ----------
    path : pathlib.Path
        The file.
    name : str
    call : callable
        (ranks, **options) -> generator of steps.
    """

    path: Path
    name: str
    call: Callable[..., Any]

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """What it takes beyond N, by name."""
        return dict(list(inspect.signature(self.call).parameters.items())[1:])

    @property
    def place(self) -> Place:
        """Where it begins, if it is a function that was written in the file."""
        code = getattr(inspect.unwrap(self.call), "__code__", None)
        inside = isinstance(code, CodeType) and code.co_filename == str(self.path)
        return Place(code.co_firstlineno, 1) if inside and code is not None else Place(1, 1)


def read_function(path: Path, name: str) -> Function:
    """Run a Python file and take a function out of it.

    Raises
    ------
    ScenarioErrors
        If the file cannot be read or run, or has no such function; names the place in it.
    """
    module = _run(path)
    if name not in module:
        functions = [other for other, value in module.items() if inspect.isfunction(value)]
        hint = did_you_mean(name, functions) or (f"; it has {', '.join(functions)}" if functions else "")
        _refuse(path, Place(1, 1), f'there is no function "{printable(name)}"{hint}')
    call = module[name]
    if not callable(call):
        _refuse(path, Place(1, 1), f'"{name}" is {_kind(call)}, expected a function')
    function = Function(path, name, call)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        first = next(iter(inspect.signature(call).parameters.values()), None)
    except (TypeError, ValueError):
        first = None
    if first is None or first.kind not in kinds:
        _refuse(path, function.place, f"{name} must take the number of ranks as its first argument")
    return function


def _run(path: Path) -> dict[str, Any]:
    """The names that a file defines."""
    try:
        data = path.read_bytes() if path.is_file() else None
    except OSError as error:
        raise ScenarioErrors([ScenarioError(f"cannot be read: {error.strerror}", str(path))]) from None
    if data is None:
        raise ScenarioErrors([ScenarioError("there is no such file", str(path))])
    if len(data) > MAX_BYTES:
        raise ScenarioErrors([ScenarioError("is too large for an algorithm", str(path))])
    try:
        code = compile(data, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        _refuse(path, Place(error.lineno or 1, error.offset or 1), f"not Python: {error.msg}")
    except ValueError as error:
        _refuse(path, Place(1, 1), f"not Python: {error}")
    # dataclasses look for their module among those that were imported
    module = ModuleType(f"collsim_code.{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        with _aside():
            exec(code, module.__dict__)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _blame(error, path, Place(1, 1)) from error
    return module.__dict__


@contextmanager
def _aside() -> Iterator[None]:
    """Have what a person's code prints go beside the results, which a program may read."""
    with redirect_stdout(sys.stderr):
        yield


def steps_of(
    function: Function, ranks: int, options: Mapping[str, Any], places: list[Place]
) -> Iterator[Step]:
    """The steps that a person's function yields, each checked as it comes.

    Parameters
    ----------
    function : Function
    ranks : int
        N.
    options : mapping
        What it takes beyond N.
    places : list of Place
        Where each step was yielded is added to it.

    Raises
    ------
    ScenarioErrors
        With the place in the person's file, if the function fails or yields what is no step.
    """
    try:
        with _aside():
            generator = function.call(ranks, **options)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _blame(error, function.path, function.place) from error
    if not isinstance(generator, GeneratorType):
        found = "None" if generator is None else _kind(generator)
        message = f"{function.name} returns {found}, expected a generator that yields steps"
        _refuse(function.path, function.place, message)
    for number in range(MOST_STEPS):
        try:
            with _aside():
                step = next(generator)
        except StopIteration:
            return
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise _blame(error, function.path, function.place) from error
        places.append(_yielding(function, generator))
        try:
            check_step(step)
        except ScheduleError as error:
            _refuse(function.path, places[-1], f"step {number}: {error.message}")
        yield step
    _refuse(function.path, function.place, f"{function.name} yields more than {MOST_STEPS:,} steps")


def check_step(step: object) -> None:
    """Refuse what is not (src, dst, chunks, mode), or a list of such groups.

    Raises
    ------
    ScheduleError
    """
    for group in step if isinstance(step, list) else [step]:
        if not isinstance(group, tuple):
            raise ScheduleError(f"found {_kind(group)}, expected (src, dst, chunks, mode)")
        if len(group) != 4:
            raise ScheduleError(f"found {len(group)} values, expected (src, dst, chunks, mode)")
        src, dst, chunks, mode = group
        sources, targets = _numbers("src", src, 1), _numbers("dst", dst, 1)
        moved = _check_chunks(chunks)
        if not len(sources) == len(targets) == moved:
            sizes = f"{len(sources)} src, {len(targets)} dst, chunks of {moved} transfers"
            raise ScheduleError(f"found {sizes}; expected as many of each")
        if not isinstance(mode, int | np.integer) or mode not in (COPY, REDUCE):
            raise ScheduleError(f"mode: found {_shown(mode)}, expected COPY or REDUCE")


def _check_chunks(chunks: object) -> int:
    """How many transfers the chunks are for."""
    if isinstance(chunks, Ranges):
        first, count = _numbers("chunks.first", chunks.first, 1), _numbers("chunks.count", chunks.count, 1)
        if len(first) != len(count) or (count < 0).any():
            raise ScheduleError("chunks: found Ranges of unequal columns or less than nothing")
        return len(first)
    if isinstance(chunks, Lists):
        offsets, index = (
            _numbers("chunks.offsets", chunks.offsets, 1),
            _numbers("chunks.index", chunks.index, 1),
        )
        fits = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(index)
        if not fits or (np.diff(offsets) < 0).any():
            raise ScheduleError(
                "chunks: found Lists whose offsets do not rise from 0 to the length of its index"
            )
        return len(offsets) - 1
    return len(_numbers("chunks", chunks, 2))


def _numbers(name: str, value: object, dimensions: int) -> np.ndarray[Any, np.dtype[Any]]:
    """Whole numbers of 32 bits in up to so many dimensions."""
    try:
        array = np.atleast_1d(np.asarray(value))
    except (TypeError, ValueError):
        raise ScheduleError(f"{name}: found rows of unequal length, expected whole numbers") from None
    except Exception as error:
        raise ScheduleError(f"{name}: found {_kind(value)} that raises {type(error).__name__}") from error
    if array.ndim > dimensions:
        raise ScheduleError(f"{name}: found {array.ndim} dimensions, expected {dimensions}")
    if array.size and array.dtype.kind not in "iu":
        raise ScheduleError(f"{name}: found {_shown(value)}, expected whole numbers")
    if array.size and max(-int(array.min()), int(array.max())) > _LARGEST:
        raise ScheduleError(f"{name}: found a number past 2^31")
    return array


def blame_step(function: Function, error: ScheduleError, places: Sequence[Place]) -> ScenarioErrors:
    """An error that shows only when all steps are there, where its step was yielded."""
    known = error.step is not None and error.step < len(places)
    place = places[error.step] if known and error.step is not None else function.place
    return ScenarioErrors([_error(function.path, place, error.message)])


def _yielding(function: Function, generator: GeneratorType[Any, None, Any]) -> Place:
    """Where a generator waits."""
    frame = generator.gi_frame
    return function.place if frame is None else _instruction(generator.gi_code, frame.f_lasti)


def _blame(error: BaseException, path: Path, otherwise: Place) -> ScenarioErrors:
    """What a person's code raised, where it did: in the innermost of its own lines."""
    place, trace = otherwise, error.__traceback__
    while isinstance(trace, TracebackType):
        if trace.tb_frame.f_code.co_filename == str(path):
            place = _instruction(trace.tb_frame.f_code, trace.tb_lasti)
        trace = trace.tb_next
    name = type(error).__name__
    said = ""
    with suppress(Exception):
        said = " ".join(str(error).split())
    return ScenarioErrors([_error(path, place, f"{name}: {printable(said, 300)}" if said else name)])


def _instruction(code: CodeType, instruction: int) -> Place:
    line, _, column, _ = list(code.co_positions())[instruction // 2]
    return Place(line or code.co_firstlineno, (column or 0) + 1)


def _error(path: Path, place: Place, message: str) -> ScenarioError:
    return ScenarioError(message, str(path), place.line, place.column)


def _refuse(path: Path, place: Place, message: str) -> NoReturn:
    raise ScenarioErrors([_error(path, place, message)])


def _kind(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _shown(value: object) -> str:
    with suppress(Exception):
        return printable(" ".join(repr(value).split()))
    return _kind(value)
