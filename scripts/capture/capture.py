"""Record the operators that a PyTorch program runs, with shapes, strides, offsets and storages.

    from capture import capture

    with capture("model.json.gz"):
        model(x)

writes an execution trace, in the form of PyTorch's ExecutionTraceObserver (schema 1.1.1-chakra.0.0.4), which PyTorch
itself writes with strides only in recent versions. This needs PyTorch 1.13 or later and nothing else. `bench import` reads
the file.
"""

import gzip
import json
import math
import os
import threading
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode

try:
    from torch.overrides import TorchFunctionMode, resolve_name
except ImportError:  # callers are not named
    TorchFunctionMode = object
    resolve_name = None

# The C++ types by which a trace names dtypes (c10/core/ScalarType.h).
TYPES = {
    "uint8": "unsigned char", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long",
    "float16": "c10::Half", "float32": "float", "float64": "double", "bool": "bool", "bfloat16": "c10::BFloat16",
    "complex32": "c10::complex<c10::Half>", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
    "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long",
    "float8_e4m3fn": "c10::Float8_e4m3fn", "float8_e4m3fnuz": "c10::Float8_e4m3fnuz",
    "float8_e5m2": "c10::Float8_e5m2", "float8_e5m2fnuz": "c10::Float8_e5m2fnuz",
    "quint8": "c10::quint8", "qint8": "c10::qint8", "qint32": "c10::qint32",
}

ROOT = 1
FUNCTION_SCOPE, USER_SCOPE = 0, 7  # at::RecordScope


class capture:
    """A context in which every operator of this thread is written to path, gzipped if that ends in .gz.

    callers=False leaves out which functions of torch called them. The file is there when the context ends, whole.
    """

    def __init__(self, path, callers=True):
        self.path = path
        self.modes = [Dispatched(self)]
        if callers and resolve_name is not None:
            self.modes.append(Called(self))

    def __enter__(self):
        self.ids = {}  # of tensors and storages, by address, as the observer has them
        self.next_id = ROOT + 1
        self.calls = 0
        self.stack = []
        self.part = self.path + ".part"
        if self.path.endswith(".gz"):
            self.file = gzip.open(self.part, "wt", compresslevel=6, encoding="utf-8")
        else:
            self.file = open(self.part, "w", encoding="utf-8")
        header = {"schema": "1.1.1-chakra.0.0.4", "pid": os.getpid(), "time": time.strftime("%Y-%m-%d %H:%M:%S"),
                  "start_ts": time.monotonic_ns() // 1_000_000}
        self.file.write(json.dumps(header)[:-1] + ',\n  "nodes": [\n')
        self.tid = threading.get_native_id()
        self.stack.append(self.new_id())
        self.write(self.node(self.stack[0], "[pytorch|profiler|execution_trace|thread]", ROOT, USER_SCOPE))
        for mode in self.modes:
            mode.__enter__()
        return self

    def __exit__(self, *error):
        for mode in reversed(self.modes):
            mode.__exit__(*error)
        self.write(self.node(ROOT, "[pytorch|profiler|execution_trace|process]", ROOT, USER_SCOPE), last=True)
        self.file.write('  ],\n  "finish_ts": %d\n}\n' % (time.monotonic_ns() // 1_000_000))
        self.file.close()
        os.replace(self.part, self.path)

    def new_id(self):
        self.next_id += 1
        return self.next_id - 1

    def id_of(self, address):
        if address == 0:
            return 0
        if address not in self.ids:
            self.ids[address] = self.new_id()
        return self.ids[address]

    def node(self, id, name, parent, scope, inputs=(), outputs=(), schema=""):
        # No rf_id: these are numbers of PyTorch's own.
        attrs = [("rf_id", "uint64", 0), ("fw_parent", "uint64", 0), ("seq_id", "int64", -1),
                 ("scope", "uint64", scope), ("tid", "uint64", self.tid), ("fw_tid", "uint64", 0),
                 ("op_schema", "string", schema), ("kernel_backend", "string", ""), ("kernel_file", "string", "")]
        return {"id": id, "name": name, "ctrl_deps": parent,
                "inputs": side(inputs), "outputs": side(outputs),
                "attrs": [{"name": n, "type": t, "value": v} for n, t, v in attrs]}

    def write(self, node, last=False):
        self.file.write("    " + json.dumps(node, separators=(",", ":")) + ("\n" if last else ",\n"))

    def describe(self, value):
        """The value, shape, type and strides of an argument or result, lists as lists."""
        if isinstance(value, torch.Tensor):
            return self.describe_tensor(value)
        if isinstance(value, (list, tuple)):
            parts = [self.describe(v) for v in value]
            kind = "Tuple" if isinstance(value, tuple) else "GenericList"
            return ([p[0] for p in parts], [p[1] for p in parts], "%s[%s]" % (kind, ",".join(p[2] for p in parts)),
                    [p[3] for p in parts])
        if value is None:
            return "<None>", [], "None", []
        if isinstance(value, bool):
            return value, [], "Bool", []
        if isinstance(value, int):
            return value, [], "Int", []
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value), [], "Double", []
        if isinstance(value, torch.device):
            return str(value), [], "Device", []
        return str(value), [], "String", []

    def describe_tensor(self, t):
        dtype = str(t.dtype).replace("torch.", "")
        kind = "Tensor(%s)" % TYPES.get(dtype, dtype)
        try:
            storage = t.untyped_storage() if hasattr(t, "untyped_storage") else t.storage()
            address, offset = storage.data_ptr(), t.storage_offset()
            shape, strides = [int(n) for n in t.shape], [int(n) for n in t.stride()]
        except (RuntimeError, NotImplementedError, TypeError):  # sparse, mkldnn, symbolic
            return [self.id_of(t._cdata), 0, 0, 0, 0, str(t.device)], [], "Opaque", []
        return ([self.id_of(t._cdata), self.id_of(address), offset, t.numel(), t.element_size(), str(t.device)],
                shape, kind, strides)


def side(described):
    values, shapes, types, strides = (list(column) for column in zip(*described)) if described else ([], [], [], [])
    return {"values": values, "shapes": shapes, "types": types, "strides": strides}


class Dispatched(TorchDispatchMode):
    """Every operator that reaches a kernel, below autograd."""

    def __init__(self, into):
        super().__init__()
        self.into = into

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        into, kwargs = self.into, kwargs or {}
        schema = func._schema
        given = [args[i] if i < len(args) else kwargs.get(a.name, a.default_value if a.has_default_value() else None)
                 for i, a in enumerate(schema.arguments)]
        # Before the call: it may change strides, as resize_ and transpose_ do.
        inputs = [into.describe(v) for v in given]
        id, parent = into.new_id(), into.stack[-1]
        into.calls += 1
        result = func(*args, **kwargs)
        results = result if isinstance(result, tuple) else () if result is None else (result,)
        into.write(into.node(id, schema.name, parent, FUNCTION_SCOPE, inputs, [into.describe(v) for v in results],
                             str(schema)))
        return result


class Called(TorchFunctionMode):
    """The functions of torch that a program calls, which are written if they call an operator."""

    def __init__(self, into):
        super().__init__()
        self.into = into

    def __torch_function__(self, func, types, args=(), kwargs=None):
        into = self.into
        id, parent, before = into.new_id(), into.stack[-1], into.calls
        into.stack.append(id)
        try:
            return func(*args, **(kwargs or {}))
        finally:
            into.stack.pop()
            if into.calls > before:
                name = resolve_name(func) or "torch." + getattr(func, "__name__", str(func))
                into.write(into.node(id, name, parent, USER_SCOPE))
