"""How Python calls compiled code: for each entry point a C function that checks and unpacks its arguments; and memory for arrays.

All this uses the C interfaces of Python and numpy alone. So machine code is for a version of Python, not for one of numba. `self`
is a tuple of what the C function needs of Python: `library.raise_error`, `np.ndarray`, and the dtypes of the arrays in the
arguments, in order.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.np.arrayobj import populate_array

_POINTER, _INT, _SIZE, _VOID = cgutils.voidptr_t, cgutils.int32_t, cgutils.intp_t, ir.VoidType()
_ARRAY = ir.LiteralStructType([_POINTER, _INT, _SIZE.as_pointer(), _SIZE.as_pointer(), _POINTER, _POINTER, _INT])
# The fields of an array of numpy, after the header of every object.
_DATA, _NDIM, _SHAPE, _STRIDES, _, _DTYPE, _FLAGS = range(7)
_C_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
_EQUAL = 2  # Py_EQ
_MEMORY = ir.LiteralStructType([_SIZE, _POINTER, _POINTER, _POINTER, _SIZE])  # numba's, of an array: count, -, -, data, size


def python_call(name: str, described: Any) -> bytes:
    """Returns an LLVM module with the function that Python calls (METH_FASTCALL), which gets this name."""
    context = cpu_target.target_context
    module = context.create_module(name)
    kind = context.call_conv.get_function_type(described.restype, described.argtypes)
    callee = ir.Function(module, kind, described.llvm_func_name)
    function = ir.Function(module, ir.FunctionType(_POINTER, [_POINTER, _POINTER.as_pointer(), _SIZE]), name)
    _Writer(context, function).write(callee, described, name.rpartition(".")[2])
    return llvm.parse_assembly(str(module)).as_bitcode()


def memory() -> bytes:
    """Returns an LLVM module with the functions of numba's runtime that compiled code calls: they take memory from Python's."""
    module = cpu_target.target_context.create_module("memory")

    def begin(name: str, result: Any, *arguments: Any) -> tuple[Any, Any]:
        function = ir.Function(module, ir.FunctionType(result, arguments), name)
        return function.args, ir.IRBuilder(function.append_basic_block())

    allocate = ir.Function(module, ir.FunctionType(_POINTER, [_SIZE]), "PyMem_RawMalloc")
    free = ir.Function(module, ir.FunctionType(_VOID, [_POINTER]), "PyMem_RawFree")
    (size,), builder = begin("NRT_Allocate", _POINTER, _SIZE)
    builder.ret(builder.call(allocate, [size]))
    for name in ("NRT_Free", "NRT_MemInfo_call_dtor"):
        (found,), builder = begin(name, _VOID, _POINTER)
        builder.call(free, [found])
        builder.ret_void()
    for name, more in (("NRT_MemInfo_alloc", []), ("NRT_MemInfo_alloc_aligned", [_INT])):
        (size, *given), builder = begin(name, _POINTER, _SIZE, *more)
        boundary = builder.zext(given[0], _SIZE) if given else _SIZE(1)
        header = builder.add(_SIZE(cpu_target.target_context.get_abi_sizeof(_MEMORY)), boundary)
        found = builder.call(allocate, [builder.add(header, size)])
        with builder.if_then(cgutils.is_not_null(builder, found)):
            end = builder.add(builder.ptrtoint(found, _SIZE), builder.sub(header, _SIZE(1)))
            data = builder.inttoptr(builder.and_(end, builder.neg(boundary)), _POINTER)
            fields = builder.bitcast(found, _MEMORY.as_pointer())
            for k, value in enumerate((_SIZE(1), _POINTER(None), _POINTER(None), data, size)):
                builder.store(value, cgutils.gep_inbounds(builder, fields, 0, k))
        builder.ret(found)
    return llvm.parse_assembly(str(module)).as_bitcode()


class _Writer:
    """Writes the function that Python calls."""

    def __init__(self, context: Any, function: Any) -> None:
        self.context, self.builder = context, ir.IRBuilder(function.append_basic_block())
        self.function, self.arrays = function, 0

    def write(self, callee: Any, described: Any, name: str) -> None:
        _, given, size = self.function.args
        kinds = described.argtypes
        self.demand(self.builder.icmp_signed("==", size, _SIZE(len(kinds))), f"{name}() takes {len(kinds)} positional arguments")
        values = []
        for k, kind in enumerate(kinds):
            value = self.builder.load(self.builder.gep(given, [_SIZE(k)]))
            values.append(self.unpacked(value, kind, f"argument {k + 1} of {name}()"))
        thread = self.call("PyEval_SaveThread", _POINTER)
        status, result = self.context.call_conv.call_function(
            self.builder, callee, described.restype, kinds, values, attrs=("noinline",)
        )
        self.call("PyEval_RestoreThread", _VOID, thread)
        with self.builder.if_then(status.is_error, likely=False):
            error = self.builder.load(status.excinfoptr)
            size = self.builder.sext(self.builder.extract_value(error, 1), _SIZE)
            pickled = self.call("PyBytes_FromStringAndSize", _POINTER, self.builder.extract_value(error, 0), size)
            self.call("PyObject_CallOneArg", _POINTER, self.needed(0), pickled)
            self.call("Py_DecRef", _VOID, pickled)
            self.builder.ret(_POINTER(None))
        self.builder.ret(self.packed(result, described.restype))

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """Calls a function of Python."""
        kind = ir.FunctionType(result, [each.type for each in arguments])
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), arguments)

    def demand(self, holds: Any, text: str | None) -> None:
        """Ends the function with a TypeError, or with the error that is set, unless something holds."""
        with self.builder.if_then(self.builder.not_(holds), likely=False):
            if text is not None:
                words = self.context.insert_const_string(self.builder.module, text)
                self.call("PyErr_SetString", _VOID, self.constant("PyExc_TypeError"), words)
            self.builder.ret(_POINTER(None))

    def constant(self, name: str) -> Any:
        """Returns an object of Python; `library` gives its address."""
        found = self.builder.module.globals.get(name) or ir.GlobalVariable(self.builder.module, ir.IntType(8), name)
        return self.builder.bitcast(found, _POINTER)

    def needed(self, k: int) -> Any:
        return self.call("PyTuple_GetItem", _POINTER, self.function.args[0], _SIZE(k))

    def unpacked(self, value: Any, kind: Any, name: str) -> Any:
        """Returns numba's representation of a Python value."""
        if isinstance(kind, types.Array):
            return self.array(value, kind, name)
        if isinstance(kind, types.BaseTuple):
            size = self.call("PyTuple_Size", _SIZE, value)
            self.demand(self.builder.icmp_signed("==", size, _SIZE(len(kind))), f"{name} must be a tuple of {len(kind)}")
            parts = [self.call("PyTuple_GetItem", _POINTER, value, _SIZE(k)) for k in range(len(kind))]
            inner = [self.unpacked(part, each, name) for part, each in zip(parts, kind, strict=True)]
            return self.context.make_tuple(self.builder, kind, inner)
        if kind == types.boolean:
            truth = self.call("PyObject_IsTrue", _INT, value)
            self.demand(self.builder.icmp_signed(">=", truth, _INT(0)), None)
            return self.builder.icmp_signed("!=", truth, _INT(0))
        return self.number(value, kind)

    def number(self, value: Any, kind: Any) -> Any:
        """Returns an int64 or a float64."""
        assert kind in (types.int64, types.float64), f"entry points get numbers as int64, float64 or bool_, not as {kind}"
        is_float = kind == types.float64
        convert, wide = ("PyFloat_AsDouble", ir.DoubleType()) if is_float else ("PyLong_AsLongLong", ir.IntType(64))
        whole = value if is_float else self.call("PyNumber_Index", _POINTER, value)
        self.demand(cgutils.is_not_null(self.builder, whole), None)
        found = self.call(convert, wide, whole)
        if not is_float:
            self.call("Py_DecRef", _VOID, whole)
        compare = self.builder.fcmp_ordered if is_float else self.builder.icmp_signed
        with self.builder.if_then(compare("==", found, wide(-1)), likely=False):  # -1 stands for an error too
            self.demand(cgutils.is_null(self.builder, self.call("PyErr_Occurred", _POINTER)), None)
        return found

    def array(self, value: Any, kind: Any, name: str) -> Any:
        """Returns an array, of the memory of numpy's."""
        builder = self.builder
        text = f"{name} must be an array of {kind.dtype}"[:60] + f", C-contiguous, with {kind.ndim} dimensions"
        text += "" if not kind.mutable else ", and not read-only"
        of = self.call("PyObject_Type", _POINTER, value)  # `isinstance` would believe an object's `__class__`
        is_array = self.call("PyType_IsSubtype", _INT, of, self.needed(1))
        self.call("Py_DecRef", _VOID, of)
        self.demand(builder.icmp_signed("!=", is_array, _INT(0)), text)
        found = builder.bitcast(builder.gep(value, [_SIZE(object.__basicsize__)]), _ARRAY.as_pointer())
        fields = [builder.load(cgutils.gep_inbounds(builder, found, 0, k)) for k in range(len(_ARRAY))]
        flags = _C_CONTIGUOUS | (_ALIGNED if kind.aligned else 0) | (_WRITEABLE if kind.mutable else 0)
        fits = builder.icmp_signed("==", builder.and_(fields[_FLAGS], _INT(flags)), _INT(flags))
        self.demand(builder.and_(fits, builder.icmp_signed("==", fields[_NDIM], _INT(kind.ndim))), text)
        dtype = self.needed(2 + self.arrays)
        self.arrays += 1
        is_same = self.call("PyObject_RichCompareBool", _INT, fields[_DTYPE], dtype, _INT(_EQUAL))
        self.demand(builder.icmp_signed("==", is_same, _INT(1)), text)
        result = self.context.make_array(kind)(self.context, builder)
        lengths, strides = (
            [builder.load(builder.gep(fields[field], [_SIZE(k)])) for k in range(kind.ndim)] for field in (_SHAPE, _STRIDES)
        )
        size = self.context.get_constant(types.intp, self.context.get_abi_sizeof(self.context.get_data_type(kind.dtype)))
        data = builder.bitcast(fields[_DATA], result.data.type)
        populate_array(result, data=data, shape=lengths, strides=strides, itemsize=size, meminfo=None)
        return result._getvalue()

    def packed(self, value: Any, kind: Any) -> Any:
        """Returns a new Python value of what the entry point returned."""
        if kind == types.none:
            none = self.constant("_Py_NoneStruct")
            self.call("Py_IncRef", _VOID, none)
            return none
        if kind == types.boolean:
            return self.call("PyBool_FromLong", _POINTER, self.builder.zext(value, ir.IntType(8 * np.dtype("l").itemsize)))
        if isinstance(kind, types.Integer):
            return self.call("PyLong_FromLongLong", _POINTER, self.context.cast(self.builder, value, kind, types.int64))
        if isinstance(kind, types.Float):
            return self.call("PyFloat_FromDouble", _POINTER, self.context.cast(self.builder, value, kind, types.float64))
        assert isinstance(kind, types.BaseTuple), f"entry points return numbers, and tuples of them, not {kind}"
        result = self.call("PyTuple_New", _POINTER, _SIZE(len(kind)))
        for k, each in enumerate(kind):
            part = self.packed(self.builder.extract_value(value, k), each)
            self.call("PyTuple_SetItem", _INT, result, _SIZE(k), part)
        return result
