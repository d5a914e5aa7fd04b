"""Arrays on a GPU, with a driver that does nothing and a stand-in for torch: what is queued, where, and what it costs.

test_device_arrays.py runs this file in a process of its own, whose GPU is the one that does nothing.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

import segfold as sf

HERE = os.path.dirname(os.path.abspath(__file__))
OLD = os.environ.get("SEGFOLD_TEST_OLD_DRIVER") == "1"  # one without memory that belongs to graphs


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """The driver that does nothing, loaded before segfold asks for one."""
    if sf.devices():
        pytest.skip("a GPU is here; test_gpu.py uses it")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler is here, which makes the driver that does nothing")
    try:
        sf.nvrtc()
    except sf.DeviceError:
        pytest.skip("no NVRTC is here, which compiles kernels")
    library = str(tmp_path_factory.mktemp("driver") / "libcuda.so.1")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", library,
                    *(["-DWITHOUT_MEMORY_OF_GRAPHS"] if OLD else []), os.path.join(HERE, "do_nothing_driver", "driver.c")], check=True)  # fmt: skip
    return ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)


@pytest.fixture(scope="module")
def torch(driver):
    sys.path.insert(0, os.path.join(HERE, "stand_in"))
    saved = sys.modules.pop("torch", None)
    import torch

    yield torch
    sys.path.pop(0)
    sys.modules.pop("torch")
    if saved is not None:
        sys.modules["torch"] = saved


def launches(driver):
    return ctypes.c_long.in_dll(driver, "num_launches").value


def allocations(driver):
    return ctypes.c_long.in_dll(driver, "num_allocations").value


def waits(driver):
    return ctypes.c_long.in_dll(driver, "num_waits").value


def bytes_copied(driver):
    return ctypes.c_long.in_dll(driver, "num_bytes_copied").value


def last_stream(driver):
    return ctypes.c_void_p.in_dll(driver, "last_stream").value


X = np.arange(4096, dtype=np.float32)
OFFSETS = np.arange(0, 4097, 32)


def test_a_number_goes_along_with_the_call(driver, torch):
    """A scalar is written on the stream: nothing is allocated, copied or waited for, whatever its value."""
    op = sf.operator("operator added(x: f32, by: scalar f64) -> f32 { state s: f32 = 0 lift x + f32(by) combine(a, b) a + b }")
    x, out = torch.tensor(X), torch.tensor(np.zeros(128, np.float32))
    op(x, by=1, uniform=32, out=out)
    before = allocations(driver), bytes_copied(driver), waits(driver), launches(driver)
    for by in range(10):
        op(x, by=by, uniform=32, out=out)
    assert (allocations(driver), bytes_copied(driver), waits(driver)) == before[:3]
    assert launches(driver) > before[3] and op._cached_plans() == 1


def test_a_call_is_queued_on_the_current_stream_and_waits_for_nothing(driver, torch):
    assert len(sf.devices()) == 1
    x, offsets = torch.tensor(X), torch.tensor(OFFSETS)
    op = sf.operator(sf.standard.sum.typed("f32").text)
    op(x, offsets=offsets)
    assert op._cached_plans() == 1
    before = launches(driver), allocations(driver), waits(driver)
    result = op(x, offsets=offsets)
    assert isinstance(result, torch.Tensor) and result.shape == (128,) and result.dtype is torch.float32
    assert (launches(driver), allocations(driver), waits(driver)) == (before[0] + 1, before[1], before[2])
    assert not last_stream(driver)
    torch._C.stream = 4242
    op(x, offsets=offsets)
    assert last_stream(driver) == 4242
    assert op._cached_plans() == 2
    torch._C.stream = 0


@pytest.fixture
def captured(driver, torch):
    """A stream that is captured into a graph, and is the current one."""
    ctypes.c_void_p.in_dll(driver, "captured").value = torch._C.stream = 5151
    yield 5151
    ctypes.c_void_p.in_dll(driver, "captured").value, torch._C.stream = None, 0


TURNED = ("operator turned(x: f32) -> f32 { state { s: f32 = 1; t: f32 = 0 } lift { s = x; t = x } "
          "combine(a, b) { s = a.s * b.s; t = a.t * b.s + b.t } finish t }")  # fmt: skip


def of_graphs(driver):
    """Allocations within graphs, and what of them is given back."""
    return tuple(ctypes.c_long.in_dll(driver, name).value for name in ("num_allocations_of_graphs", "num_frees_of_graphs"))


@pytest.mark.skipif(not OLD, reason="this driver allocates within graphs")
def test_a_graph_without_memory_of_its_own_is_of_the_stream_of_its_plan(driver, torch, captured):
    op, x, lengths = sf.operator(TURNED), torch.tensor(X), torch.tensor(np.diff(OFFSETS))
    torch._C.stream = 0
    plan, other = sf.plan(op, x, lengths=lengths), sf.plan(op, x, lengths=lengths)
    assert plan.scratch_bytes > 0
    plan(x, lengths=lengths)
    torch._C.stream = captured
    before = launches(driver)
    with pytest.raises(sf.InputError, match="scratch memory, which belong to the stream of its first run"):
        plan(x, lengths=lengths)
    assert launches(driver) == before
    other(x, lengths=lengths)
    assert launches(driver) > before and last_stream(driver) == captured


@pytest.mark.skipif(OLD, reason="this driver has no memory of graphs")
def test_a_graph_has_memory_of_its_own(driver, torch, captured):
    """What is queued on a captured stream allocates by the stream, waits for nothing, and leaves plans to their own streams."""
    op = sf.operator(TURNED)
    x, lengths = torch.tensor(X), torch.tensor(np.diff(OFFSETS))  # for which offsets are made in scratch memory
    with pytest.raises(sf.InputError, match="where no kernel can be compiled, and operator turned was not called with arrays of these sizes yet"):
        op(x, lengths=lengths)
    torch._C.stream = 0
    op(x, lengths=lengths)
    plan = sf.plan(op, x, lengths=lengths)
    plan(x, lengths=lengths)
    assert plan.scratch_bytes > 0
    for run in (op, plan):
        torch._C.stream = captured
        before = launches(driver), allocations(driver), waits(driver), bytes_copied(driver)
        made, given_back = of_graphs(driver)
        run(x, lengths=lengths)
        assert launches(driver) > before[0] and (allocations(driver), waits(driver), bytes_copied(driver)) == before[1:]
        assert last_stream(driver) == captured
        made, given_back = (now - then for now, then in zip(of_graphs(driver), (made, given_back)))
        assert made > 0 and given_back == made, "what is allocated is given back within the graph"
        torch._C.stream = 0
        run(x, lengths=lengths)
    torch._C.stream = captured
    with pytest.raises(sf.InputError, match="keys mark segments whose number is read back from the GPU, and its stream is captured"):
        op(x, keys=torch.tensor(np.repeat(np.arange(128, dtype=np.int32), 32)))
    torch._C.stream = 0
    checking = sf.plan(op, x, lengths=lengths, validate=True)
    torch._C.stream = captured
    with pytest.raises(sf.InputError, match="checks segments, for which it waits for the GPU, and its stream is captured"):
        checking(x, lengths=lengths)


def test_nothing_is_made_but_the_results(driver, torch):
    """Bytes that the driver was asked to copy and arrays that were made are counted, from the first call on."""
    op = sf.operator(sf.standard.argmax.typed("f32").text)
    x, offsets = torch.tensor(X), torch.tensor(OFFSETS)
    copied, made = bytes_copied(driver), torch.Tensor.made
    found = op(x, offsets=offsets)
    assert (bytes_copied(driver), torch.Tensor.made) == (copied, made + 2)
    assert op(x, offsets=offsets, out=tuple(found)).value is found.value
    assert (bytes_copied(driver), torch.Tensor.made) == (copied, made + 2)
    op(Cupyish(X), offsets=Cupyish(OFFSETS))
    assert bytes_copied(driver) == copied
    found = op(X, offsets=OFFSETS, backend="cuda")  # the host's arrays are copied there, and results back
    assert bytes_copied(driver) >= copied + X.nbytes + OFFSETS.nbytes // 2 + found.value.nbytes + found.index.nbytes


def test_similar_sizes_share_a_program(driver, torch):
    op = sf.operator(sf.standard.sum.typed("f32").text)
    op(torch.tensor(X), uniform=32)
    begin = time.perf_counter()
    for length in range(2080, 4096, 32):
        assert op(torch.tensor(X[:length]), uniform=32).shape == (length // 32,)
    print(f"a new size takes {(time.perf_counter() - begin) / 63 * 1e6:.0f} us")
    assert op._cached_plans() == 64
    op(torch.tensor(X[:32]), uniform=32)
    assert op._cached_plans() == 64


def test_segments_that_the_kernel_finds(driver, torch):
    keys = torch.tensor(np.repeat(np.arange(128), 32))
    found = sf.standard.sum(torch.tensor(X), keys=keys)
    assert found.keys.shape == (2,) and found.result.shape == (2,)  # the stand-in fills new memory with 2
    assert found.keys.dtype is torch.int64
    op = sf.operator("operator fresh(x: f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b }")
    with pytest.warns(sf.FoldWarning, match="2 runs of equal neighbours have 1 distinct key"):  # both are 2 here
        op(torch.tensor(X), keys=keys)
    before = launches(driver)
    assert op(torch.tensor(X), keys=torch.tensor(np.arange(4096) % 7), sort_keys=True).keys.shape == (2,)
    assert launches(driver) > before
    assert sf.standard.sum(torch.tensor(X), flags=torch.tensor(np.ones(4096, bool))).shape == (2,)


ROW_SUM = "operator row_sum(x: row f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b laws commutative }"
CENTRED = (
    "operator centred(x: row f32) -> (sum: f32, each rest: f32) { state sum: f32 = 0 lift x combine(a, b) a + b map x - sum "
    "laws commutative }"
)


def test_rows_are_queued_as_they_lie(driver, torch):
    op = sf.operator(ROW_SUM)
    rows, offsets = X.reshape(512, 8), np.arange(0, 513, 4)
    x, offsets = torch.tensor(rows), torch.tensor(offsets)
    copied, made = bytes_copied(driver), torch.Tensor.made
    found = op(x, offsets=offsets)
    assert found.shape == (128, 8) and found.dtype is torch.float32
    assert (bytes_copied(driver), torch.Tensor.made) == (copied, made + 1)
    before = launches(driver), allocations(driver), waits(driver)
    out = torch.tensor(np.zeros((128, 8), np.float32))
    assert op(x, offsets=offsets, out=out) is out
    assert launches(driver) > before[0] and (allocations(driver), waits(driver)) == before[1:]
    assert (bytes_copied(driver), torch.Tensor.made) == (copied, made + 1) and op._cached_plans() == 1
    assert op(torch.tensor(X.reshape(512, 8)[:, :4].copy()), offsets=offsets).shape == (128, 4)
    assert op._cached_plans() == 2  # rows of another length are another plan's
    for words in (dict(keys=torch.tensor(np.arange(512))), dict(flags=torch.tensor(np.ones(512, bool)))):
        with pytest.raises(sf.InputError) as caught:
            op(x, **words)
        assert str(caught.value) == f"no stage takes segments given by {next(iter(words))} on a device for operator row_sum"


def test_results_for_every_element_are_made_and_nothing_else(driver, torch):
    op = sf.operator(CENTRED)
    x, offsets = torch.tensor(X.reshape(512, 8)), torch.tensor(np.arange(0, 513, 4))
    made, copied = torch.Tensor.made, bytes_copied(driver)
    found = op(x, offsets=offsets)
    assert found.sum.shape == (128, 8) and found.rest.shape == (512, 8)
    assert (bytes_copied(driver), torch.Tensor.made) == (copied, made + 2)
    before = allocations(driver), waits(driver)
    assert op(x, offsets=offsets, out=tuple(found)).rest is found.rest
    assert (allocations(driver), waits(driver)) == before and torch.Tensor.made == made + 2
    assert sf.standard.softmax(torch.tensor(X), uniform=32).shape == (4096,)
    with pytest.raises(sf.InputError) as caught:
        op(x, keys=torch.tensor(np.arange(512)))
    assert str(caught.value) == "no stage takes segments given by keys on a device for operator centred"


def test_plans_of_rows(driver, torch):
    x = torch.tensor(X.reshape(512, 8))
    plan = sf.plan(sf.operator(CENTRED), x, uniform=4)
    assert plan.backend == "cuda" and plan(x, uniform=4).rest.shape == (512, 8)
    with pytest.raises(sf.InputError, match="the arrays have rows of 4 features, and the plan of centred was made for rows of 8"):
        plan(torch.tensor(X.reshape(1024, 4)), uniform=8)
    with pytest.raises(sf.InputError, match="the rows of 'rest' are 511; the plan is for at least 512"):
        plan(x, uniform=4, out=(torch.tensor(np.zeros((128, 8), "f4")), torch.tensor(np.zeros((511, 8), "f4"))))


def test_a_plan(driver, torch):
    x, offsets = torch.tensor(X), torch.tensor(OFFSETS)
    plan = sf.plan(sf.standard.sum, x, offsets=offsets)
    assert plan.backend == "cuda" and "does nothing" in plan.device
    before = launches(driver)
    assert plan(x, offsets=offsets).shape == (128,)
    assert launches(driver) == before + 1
    with pytest.raises(sf.InputError, match="the arrays lie on the host, and the plan of sum was made for arrays on a GPU"):
        plan(X, offsets=OFFSETS)
    html = plan._repr_html_()
    assert "__global__" in html and "<script" not in html


class Cupyish:
    """Speaks __cuda_array_interface__ alone."""

    def __init__(self, values, stream=None):
        self.values = values
        self.__cuda_array_interface__ = {
            "shape": values.shape, "typestr": values.dtype.str, "data": (values.ctypes.data, False), "version": 3, "stream": stream,
        }  # fmt: skip


def test_cuda_array_interface(driver, torch):
    waited = waits(driver)
    result = sf.standard.sum(Cupyish(X, 77), offsets=Cupyish(OFFSETS))
    assert isinstance(result, sf.DeviceArray) and len(result) == 128 and result.dtype == "float32" and result.device == 0
    assert waits(driver) > waited and last_stream(driver) == 77
    facts = result.__cuda_array_interface__
    assert facts["shape"] == (128,) and facts["typestr"] == "<f4" and facts["data"][0] != 0
    assert result.__dlpack_device__() == (2, 0)
    assert "dltensor" in repr(result.__dlpack__())
    assert "dltensor_versioned" in repr(result.__dlpack__(max_version=(1, 0)))


def test_rows_by_cuda_array_interface(driver, torch):
    result = sf.operator(ROW_SUM)(Cupyish(X.reshape(512, 8), 77), uniform=4)
    assert isinstance(result, sf.DeviceArray) and len(result) == 128 and result.shape == (128, 8)
    assert result.__cuda_array_interface__["shape"] == (128, 8)
    assert "dltensor" in repr(result.__dlpack__()) and last_stream(driver) == 77
    x = torch.tensor(X.reshape(512, 8))
    x.values = x.values.T
    x.shape = x.values.shape
    with pytest.raises(sf.InputError) as caught:
        sf.operator(ROW_SUM)(x)
    assert str(caught.value) == (
        "'x' of shape (8, 512) is in Fortran order, with strides of (4, 32) bytes; rows must lie one behind the other, with strides of "
        "(2048, 4) bytes, and segfold copies nothing by itself: give a contiguous copy in C order"
    )


def test_wrong_tensors(driver, torch):
    x, offsets = torch.tensor(X), torch.tensor(OFFSETS)

    def said(call):
        with pytest.raises(sf.InputError) as caught:
            call()
        return str(caught.value)

    assert said(lambda: sf.standard.sum(x, offsets=OFFSETS)) == (
        "'x' lies on GPU 0 and 'offsets' on the host; the arrays of a call lie together, and segfold copies nothing by itself"
    )
    assert said(lambda: sf.standard.sum(x, offsets=Cupyish(OFFSETS))) == (
        "'x' is an array of torch and 'offsets' one of another library, which queue their work on streams of their own; "
        "convert one by from_dlpack"
    )
    assert said(lambda: sf.standard.sum(x, offsets=torch.tensor(OFFSETS.astype("i2")))) == (
        "offsets on a device are i16; they must be i32 or i64"
    )
    assert said(lambda: sf.standard.sum(torch.tensor(X[::2]))) == (
        "'x' has a stride of 8 bytes for elements of 4; elements must lie side by side, and segfold copies nothing by itself: "
        "give a contiguous copy"
    )
    assert said(lambda: sf.standard.sum(torch.tensor(X.astype("c8")))) == (
        "'x' holds elements of type torch.complex64; segfold folds bool, 8 to 64 bit integers, float16, bfloat16, float32 and "
        "float64 in the machine's byte order; complex numbers are two columns: give x.real.contiguous() and x.imag.contiguous()"
    )
    x.requires_grad = True
    assert said(lambda: sf.standard.sum(x)) == (
        "'x' asks for its gradient; give x.detach() to go without, or call segfold.torch.fold, which knows gradients"
    )
    x.requires_grad = False
    assert said(lambda: sf.standard.sum(x, check=True)) == (
        "check=True compares results on the host, and the arrays lie on a GPU; fold copies of them on the host"
    )
    assert said(lambda: sf.standard.sum(x, offsets=offsets, out=torch.tensor(np.empty(128)))) == (
        "the results of 'result' are f64; the plan takes f32"
    )
    x.device = torch.device("mps", 0)
    assert said(lambda: sf.standard.sum(x)) == (
        "'x' lies on a device of kind 'mps'; segfold folds on CPUs and CUDA devices"
    )


def median_us(call, times=2000):
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return sorted(taken)[times // 2] * 1e6


def test_host_time_of_a_call(driver, torch):
    """Printed for people; a machine beside other work says little. The bound is that of an order of magnitude."""
    x, offsets = torch.tensor(X), torch.tensor(OFFSETS)
    out = x.new_empty(128)
    plan = sf.plan(sf.standard.sum, x, offsets=offsets)

    def nothing(*columns, **words):
        return x.new_empty(128)

    rows = {
        "a Python function that makes the result": lambda: nothing(x, offsets=offsets),
        "op(x, offsets=o)": lambda: sf.standard.sum(x, offsets=offsets),
        "op(x, offsets=o, out=r)": lambda: sf.standard.sum(x, offsets=offsets, out=out),
        "plan(x, offsets=o, out=r)": lambda: plan(x, offsets=offsets, out=out),
        "op(x, uniform=32)": lambda: sf.standard.sum(x, uniform=32),
    }
    for name, call in rows.items():
        call()
        taken = median_us(call)
        print(f"{name:42} {taken:6.2f} us")
        assert taken < 150
