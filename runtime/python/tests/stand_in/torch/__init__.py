"""As much of torch as segfold asks of it, over NumPy's memory: for machines without torch or without a GPU."""

import numpy as np

from . import _C  # noqa: F401


class dtype:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "torch." + self.name

    @property
    def itemsize(self):
        return np.dtype(self.name.replace("bfloat16", "uint16")).itemsize


bool, int8, int16, int32, int64, uint8, float16, bfloat16, float32, float64, complex64 = (
    dtype(name) for name in "bool int8 int16 int32 int64 uint8 float16 bfloat16 float32 float64 complex64".split()
)


class device:
    def __init__(self, type, index=None):
        self.type = type
        self.index = index


class Tensor:
    made = 0

    def __init__(self, values, dtype, device, strides=None):
        self.values = values
        self.dtype = dtype
        self.device = device
        self.requires_grad = False
        self.shape = values.shape
        self.ndim = values.ndim

    @property
    def is_cuda(self):
        return self.device.type == "cuda"

    @property
    def is_cpu(self):
        return self.device.type == "cpu"

    def __len__(self):
        return len(self.values)

    def is_neg(self):
        return False

    def is_contiguous(self):
        return self.values.flags.c_contiguous

    def stride(self, axis):
        return self.values.strides[axis] // self.values.itemsize

    def data_ptr(self):
        return self.values.ctypes.data

    def get_device(self):
        return -1 if self.device.type == "cpu" else self.device.index or 0

    def new_empty(self, length, dtype=None):
        Tensor.made += 1
        dtype = dtype or self.dtype
        return Tensor(np.full(length, 2, dtype.name.replace("bfloat16", "uint16")), dtype, self.device)

    def __getitem__(self, at):
        return Tensor(self.values[at.values if isinstance(at, Tensor) else at], self.dtype, self.device)

    def view(self, dtype):
        return Tensor(self.values.view(dtype.name), dtype, self.device)


def unique(keys):
    return Tensor(np.unique(keys.values), keys.dtype, keys.device)


def argsort(keys, stable=False):
    return Tensor(np.argsort(keys.values, kind="stable" if stable else None), int64, keys.device)


def tensor(values, on="cuda"):
    values = np.asarray(values)
    return Tensor(values, globals()[values.dtype.name], device(on, 0 if on == "cuda" else None))
