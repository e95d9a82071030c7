"""Layouts: records with named fields that Python and compiled code share.

    class Springs(Layout):                           # an example
        count: int                                   # number of joints
        relax: float                                 # s
        joints: Annotated[Ints, "count"]
        stiffness: Annotated[Floats, "count"]        # N m/rad
        aim: Annotated[Floats, "count", 4]           # rotations

    @law
    def pull(body: int, block: int) -> None:
        pull_to_aim(at(body, Body), at(block, Springs))

    @kernel
    def pull_to_aim(b: Body, springs: Springs) -> None:
        for i in range(springs.count):
            ... springs.aim[i], springs.stiffness[i], springs.relax

A field is a number or an array. An array states its sizes: numbers, or names of integer fields of the same layout. In
memory, a layout is a record of eight bytes per field; an array's field holds its address. Compiled code reads both as
Python does: `springs.aim` is an array of `count` rows. It cannot replace an array, and checks nothing. A loop variable
must not have the name of a layout in the same kernel, because Numba gives each name one type.

In Python, `Springs(count=2, aim=aim, ...)` checks type, shape and order of each array and keeps it; arrays that are not
given are zeros. Laws and kernels get the record by its `address`. A kernel also takes the layout itself (1 us a call),
and `kernel.py_func(b, springs)` runs as plain Python. `layout_type` defines the type for Numba.
"""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from poise.compiled.arena import Arena
from poise.compiled.law import Block
from poise.errors import InputError, unknown_name

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Shape = tuple[int | str, ...]
_ELEMENTS: dict[Any, np.dtype] = {Floats: np.dtype(float), Ints: np.dtype(np.int64), Flags: np.dtype(bool)}
_NUMBERS: dict[Any, np.dtype] = {int: np.dtype(np.int64), float: np.dtype(float)}
_OWN = {"record", "arrays", "address", "set", "replace", "dtype", "shapes", "size_fields"}
_EXAMPLE = 'Annotated[Floats, "joints", 3]'


class _LayoutMeta(type):
    """Reads a layout's annotations: `dtype` is that of its record, `shapes` has element type and sizes of arrays.

    size_fields  fields that are the size of an array
    """

    dtype: np.dtype
    shapes: dict[str, tuple[np.dtype, Shape]]
    size_fields: frozenset[str]

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]):
        super().__init__(name, bases, space)
        hints = get_type_hints(cls, include_extras=True)
        hints = {field: hint for field, hint in hints.items() if not field.startswith("_")}
        for field in sorted(_OWN & hints.keys()):
            raise InputError(f"a layout has an attribute '{field}' of its own. Rename that field of {name}.")
        cls.shapes = {field: _read_array(cls, field, hint) for field, hint in hints.items() if hint not in _NUMBERS}
        for field, (_, shape) in cls.shapes.items():
            for size in shape:
                if isinstance(size, str) and hints.get(size) is not int:
                    raise InputError(f"{name}.{field} has the size '{size}', which must be an integer field of {name}.")
        cls.size_fields = frozenset(size for _, shape in cls.shapes.values() for size in shape if isinstance(size, str))
        cls.dtype = np.dtype([(field, _NUMBERS.get(hint, _NUMBERS[int])) for field, hint in hints.items()], align=True)


def _read_array(cls: type, field: str, hint: Any) -> tuple[np.dtype, Shape]:
    """Return element type and sizes of an array's annotation."""
    element, *shape = get_args(hint) if get_origin(hint) is Annotated else (None,)
    if element not in _ELEMENTS or not shape or not all(isinstance(size, int | str) for size in shape):
        raise InputError(
            f"field {cls.__name__}.{field} must be int, float or an array of Floats, Ints or Flags with its sizes, "
            f"such as {_EXAMPLE}; got {hint}."
        )
    return _ELEMENTS[element], tuple(shape)


class Layout(Block, metaclass=_LayoutMeta):
    """A record at a fixed address, and the arrays that it points to.

    room    where the record and arrays of zeros are put; None: anywhere
    fields  numbers, and arrays, which are shared and not copied
    """

    _room: Arena

    def __init__(self, room: Arena | None = None, /, **fields: Any):
        self.__dict__["_room"] = room or Arena(0)
        super().__init__(type(self).dtype, self._room, **fields)

    @classmethod
    def _at(cls, address: int) -> Self:
        """Return the layout whose record is at an address, with the arrays as they are now."""
        made = cls.__new__(cls)
        record = _view(address, cls.dtype, (1,))
        made.__dict__.update(_room=Arena(0), record=record, arrays={}, address=address)
        for name, (element, _) in cls.shapes.items():
            made.arrays[name] = _view(int(record[name][0]), element, made._find_shape(name))
        return made

    def set(self, **fields: Any) -> None:
        """Write numbers and replace arrays. Arrays whose sizes change must be given too, except empty ones."""
        shapes = type(self).shapes
        for name in fields:
            if name not in type(self).dtype.fields:  # type: ignore[operator]
                raise unknown_name("field", name, type(self).dtype.names or (), type(self).__name__)
        super().set(**{name: value for name, value in fields.items() if name not in shapes})
        may_differ = len(self.arrays) < len(shapes) or not type(self).size_fields.isdisjoint(fields)
        for name in shapes if may_differ else [name for name in fields if name in shapes]:
            if name in fields:
                self._put(name, self._check(name, fields[name]))
            elif name not in self.arrays or self.arrays[name].shape != self._find_shape(name):
                if name in self.arrays and self.arrays[name].size:
                    self._check(name, self.arrays[name])
                self._put(name, self._room.zeros(*self._find_shape(name), dtype=shapes[name][0]))

    def replace(self, **fields: Any) -> Self:
        """Return a layout with other fields; arrays that are not given are shared."""
        return type(self)(**{name: getattr(self, name) for name in type(self).dtype.names or ()} | fields)

    def _put(self, name: str, array: np.ndarray) -> None:
        self.arrays[name] = array
        self.record[name] = array.ctypes.data

    def _find_shape(self, name: str) -> tuple[int, ...]:
        """Return the shape that an array must have."""
        sizes = type(self).shapes[name][1]
        return tuple(size if isinstance(size, int) else int(self.record[size][0]) for size in sizes)

    def _check(self, name: str, array: Any) -> np.ndarray:
        """Return an array that compiled code can read: it checks nothing itself."""
        element, sizes = type(self).shapes[name]
        shape = self._find_shape(name)
        if isinstance(array, np.ndarray) and (array.dtype, array.shape) == (element, shape):
            if array.flags.c_contiguous:
                return array
            given = "an array that is not contiguous. Use np.ascontiguousarray"
        else:
            given = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else repr(array)
        stated = ", ".join(map(str, sizes))
        raise InputError(
            f"field '{name}' of {type(self).__name__} must be an array of {element}, shape ({stated}) = {shape}; "
            f"got {given}."
        )

    if not TYPE_CHECKING:  # fields are known to a type checker by their annotations

        def __getattr__(self, name: str) -> Any:
            if name in type(self).shapes:
                return self.arrays[name]
            if name in type(self).dtype.fields:
                return self.record[name][0].item()
            raise AttributeError(f"{type(self).__name__} has no field '{name}'.")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("record", "arrays", "address"):
            self.__dict__[name] = value
        else:
            self.set(**{name: value})

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


AnyLayout = TypeVar("AnyLayout", bound=Layout)


def at(address: int, layout: type[AnyLayout]) -> AnyLayout:
    """Return the record of a layout at an address, in compiled code and in Python."""
    return layout._at(address)


def _view(address: int, element: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array of the memory at an address."""
    memory = (ctypes.c_byte * (math.prod(shape) * element.itemsize)).from_address(address)
    return np.ndarray(shape, element, buffer=memory)  # type: ignore[arg-type]
