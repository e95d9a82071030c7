"""Numba's type of layouts: records some of whose integers are read as the arrays that they point to.

`kernel.py` imports this file before the first kernel is compiled. Except for reading fields that are arrays, this is
Numba's own type of NumPy records.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_constant, lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, lower_builtin, type_callable, typeof_impl, unbox
from numba.np import numpy_support
from numba.np.arrayobj import make_array, populate_array, record_getattr, record_setattr

from poise.compiled.layout import Layout, Shape, _LayoutMeta, at

_ELEMENTS = {"float64": types.float64, "int64": types.int64, "bool": types.boolean}
_Arrays = tuple[tuple[str, str, Shape], ...]


class LayoutType(types.Record):  # type: ignore[misc]
    """Numba's type of a layout. Its name is in the symbol of every kernel that takes one, so it is short."""

    def __init__(self, title: str, record: types.Record, arrays: _Arrays):
        self.parts = title, record, arrays
        self.arrays = {name: (_ELEMENTS[element], shape) for name, element, shape in arrays}
        fields = record.fields.items()
        kept = [(name, {"type": f.type, "offset": f.offset, "alignment": f.alignment}) for name, f in fields]
        super().__init__(kept, record.size, record.aligned)
        self.name = f"{title}_{hashlib.sha256(f'{record.name}{arrays}'.encode()).hexdigest()[:12]}"

    @property
    def key(self) -> str:
        """The name, which is equal in all processes."""
        return self.name

    @property
    def mangling_args(self) -> tuple[str, tuple[()]]:
        """The name, as part of a symbol."""
        return self.name, ()

    def __reduce__(self) -> Any:
        return LayoutType, self.parts


class LayoutClassType(types.Dummy):  # type: ignore[misc]
    """Numba's type of a class of layouts, the second argument of `at`."""

    def __init__(self, layout: LayoutType):
        self.layout = layout
        super().__init__(f"class {layout.name}")


register_default(LayoutType)(models.RecordModel)
register_default(LayoutClassType)(models.OpaqueModel)


@cache
def find_type(layout: _LayoutMeta) -> LayoutType:
    """Return Numba's type of a class of layouts."""
    arrays = tuple((name, str(element), shape) for name, (element, shape) in layout.shapes.items())
    return LayoutType(layout.__name__, numpy_support.from_dtype(layout.dtype), arrays)


@typeof_impl.register(_LayoutMeta)
def _type_class(layout: _LayoutMeta, _context: Any) -> LayoutClassType:
    return LayoutClassType(find_type(layout))


@typeof_impl.register(Layout)
def _type_layout(layout: Layout, _context: Any) -> LayoutType:
    return find_type(type(layout))


@lower_constant(LayoutClassType)
def _build_class(context: Any, _builder: Any, _kind: Any, _layout: Any) -> Any:
    return context.get_dummy_value()


@unbox(LayoutType)
def _unbox(kind: Any, layout: Any, c: Any) -> NativeValue:
    """Read the address of a layout that Python passes to a kernel, which keeps it alive meanwhile."""
    held = c.pyapi.object_getattr_string(layout, "address")
    address = c.pyapi.long_as_longlong(held)
    c.pyapi.decref(held)
    failed = cgutils.is_not_null(c.builder, c.pyapi.err_occurred())
    return NativeValue(c.builder.inttoptr(address, c.context.get_value_type(kind)), is_error=failed)


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    """The types of a layout's fields."""

    key = LayoutType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        """Return an array's type, or that of a number; None if there is no such field."""
        if name in kind.arrays:
            element, shape = kind.arrays[name]
            return types.Array(element, len(shape), "C")
        return kind.typeof(name) if name in kind.fields else None


@lower_getattr_generic(LayoutType)
def _read_field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    if name not in kind.arrays:
        return record_getattr(context, builder, kind, value, name)
    element, sizes = kind.arrays[name]
    made = make_array(types.Array(element, len(sizes), "C"))(context, builder)
    word, item = context.get_value_type(types.intp), context.get_abi_sizeof(context.get_data_type(element))
    shape = [
        ir.Constant(word, size) if isinstance(size, int) else record_getattr(context, builder, kind, value, size)
        for size in sizes
    ]
    strides = [ir.Constant(word, item)]
    for size in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], size))
    populate_array(
        made, data=builder.inttoptr(record_getattr(context, builder, kind, value, name), made.data.type),
        shape=cgutils.pack_array(builder, shape), strides=cgutils.pack_array(builder, strides),
        itemsize=ir.Constant(word, item), meminfo=None,
    )  # fmt: skip
    return made._getvalue()


@lower_setattr_generic(LayoutType)
def _write_field(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> Any:
    kind = signature.args[0]
    if name in kind.arrays:
        raise NotImplementedError(f"'{name}' is an array; compiled code writes into it: {name}[:] = ...")
    return record_setattr(context, builder, signature, arguments, name)


@type_callable(at)
def _type_at(_context: Any) -> Any:
    def resolve(address: Any, layout: Any) -> Any:
        is_layout = isinstance(address, types.Integer) and isinstance(layout, LayoutClassType)
        return layout.layout if is_layout else None

    return resolve


@lower_builtin(at, types.Integer, LayoutClassType)
def _build_at(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))
