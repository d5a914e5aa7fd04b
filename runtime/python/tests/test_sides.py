"""What stands beside folds: laws, threads, Ctrl-C, memory, notebooks, doctests, stubs."""

import ast
import doctest
import html
import importlib
import importlib.util
import inspect
import os
import pathlib
import pickle
import pkgutil
import signal
import subprocess
import sys
import threading
import time
import typing
import warnings

import numpy as np
import pytest

import segfold as sf

X = np.arange(1 << 12, dtype=np.int32)
FLIGHTS = """
operator late_streak(delay: f32) -> i32 {
  state { flights: i32 = 0; leading: i32 = 0; trailing: i32 = 0; longest: i32 = 0 }
  lift { let late = i32(delay > 15.0); flights = 1; leading = late; trailing = late; longest = late }
  combine(a, b) {
    flights  = a.flights + b.flights;
    leading  = a.leading == a.flights ? a.flights + b.leading : a.leading;
    trailing = b.trailing == b.flights ? a.trailing + b.flights : b.trailing;
    longest  = max(max(a.longest, b.longest), a.trailing + b.leading)
  }
  finish longest
}
"""


def test_laws_are_objects():
    report = sf.check(sf.expression("a - b", "i32", identity="0", commutative=True))
    assert not report and [finding.law for finding in report] == ["associative", "identity", "commutative"]
    example = report["associative"].counter_example
    assert example.left_side == "combine(combine(a, b), c)" and example.right_side == "combine(a, combine(b, c))"
    a, b, c = (state["value"] for state in example.states)
    assert (example.left["value"], example.right["value"]) == ((a - b) - c, a - (b - c))
    assert all(isinstance(element["x"], int) for elements in example.elements for element in elements)
    assert report[0].cases > 0 and str(example) in str(report)
    assert report[0].means == "search" and example.offsets == [0, 3]
    x = np.array(example.columns["x"], np.int32)
    assert [x[0], x[1], x[2]] == [a, b, c]  # an element each
    op = sf.expression("a - b", "i32", identity="0")
    assert op(x, offsets=np.array(example.offsets), backend="reference", assume=["associative", "identity"])[0] == (a - b) - c
    with pytest.raises(KeyError):
        report["idempotent"]


def test_a_counter_example_tells_its_scalars():
    op = sf.operator("operator widest(x: i32, tol: scalar i32) -> i32 { state { n: i32 = 0; t: i32 = 0 }  lift { n = 1; t = tol }  "
                     "combine(a, b) { n = a.n + b.n; t = max(a.t, b.t) }  finish t }")
    example = sf.check(op)["identity"].counter_example
    assert example.scalars["tol"] < 0
    x = np.array(example.columns["x"], np.int32)
    with pytest.raises(sf.SpecError, match="tol = -5"):
        op(x, tol=-5)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert op(x, tol=5)[0] == 5
    assert not any("identity" in str(one.message) for one in seen), "it holds for the call's own scalar"
    assert sf.check(sf.expression("a - b", "i32"))["associative"].counter_example.scalars == {}


def test_laws_that_hold():
    report = sf.check(sf.standard.trace.typed("u64"))
    assert report and report["associative"].counter_example is None
    rounding = sf.check(sf.standard.sum.typed("f32"), prove=0)
    assert rounding["associative"].verdict == "holds_up_to_rounding" and rounding["associative"].spread > 0
    assert rounding.prover == "" and rounding["associative"].seconds == 0


@pytest.mark.drawn
def test_laws_that_are_proved():
    report = sf.check(sf.operator(FLIGHTS), prove=20)
    if report.prover.startswith("nothing is proved"):
        pytest.skip(report.prover)
    found = report["associative"]
    assert report.prover.startswith("Z3 ") and found.verdict == "proved_while_nothing_overflows"
    assert found.means == "integers" and "0 <= leading <= flights" in found.invariants and found.seconds > 0
    undeclared = sf.check(sf.operator("operator f(x: i32) -> i32 { state s: i32 = 0 lift x combine(a, b) a + b }")).undeclared
    assert [(law.law, law.verdict) for law in undeclared] == [("commutative", "proved")]


def test_laws_that_are_not_proved(monkeypatch):
    monkeypatch.setenv("SEGFOLD_Z3", "off")
    report = sf.check(sf.operator("operator g(x: i32) -> i32 { state s: i32 = 0 lift x combine(a, b) a * b + a + b }"))
    assert report and report.prover == "nothing is proved: SEGFOLD_Z3 is off" and report.undeclared == ()


def test_operators_pickle():
    for op in (sf.standard.sum, sf.standard.argmax_i32, sf.expression("a + b"), sf.operator(
        "operator twice(x: T) -> T { state s: T = 0 lift x + x combine(a, b) a + b }"
    )):  # fmt: skip
        again = pickle.loads(pickle.dumps(op))
        assert again == op and hash(again) == hash(op)
    assert pickle.loads(pickle.dumps(sf.standard.sum))(X, backend="reference")[0] == X.sum()
    assert pickle.loads(pickle.dumps(sf.f32)) is sf.f32


def test_operators_of_files(tmp_path):
    path = tmp_path / "most.seg"
    path.write_text("operator most(x: i32) -> i32 { state m: i32 lift x combine(a, b) max(a, b) }\n")
    assert sf.operator(path)(X)[0] == X.max()
    path.write_text("operator most(x: i32) -> i32 { state m: i32 lift y combine(a, b) max(a, b) }\n")
    with pytest.raises(sf.SpecError, match=r"most\.seg:1:50: unknown name 'y'"):
        sf.operator(path)


def test_threads_fold_at_the_same_time():
    wanted = sf.standard.trace(X, uniform=64, backend="reference")
    failures = []

    def work():
        try:
            for _ in range(20):
                found = sf.standard.trace(X, uniform=64, backend="reference")
                np.testing.assert_array_equal(found.hash, wanted.hash)
        except BaseException as failure:  # noqa: B036  a test must see all
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


LONG = """
import numpy as np, segfold as sf, threading, time
x = np.ones(1 << 22, np.float32)
"""


@pytest.mark.drawn
def test_the_lock_is_free_while_a_fold_runs():
    """Another thread of Python counts on while the reference folds four million elements."""
    program = LONG + """
counted = 0
def count():
    global counted
    while True:
        counted += 1
threading.Thread(target=count, daemon=True).start()
time.sleep(0.05)
before, begin = counted, time.perf_counter()
sf.standard.mean_variance(x, uniform=1 << 22, backend="reference")
taken = time.perf_counter() - begin
print(taken, (counted - before) / taken)
before, begin = counted, time.perf_counter()
time.sleep(taken)
print((counted - before) / taken)
"""
    words = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert float(words[0]) > 0.05, "the fold was too short to tell"
    assert float(words[1]) > 0.02 * float(words[2])


def test_ctrl_c_ends_the_wait():
    program = LONG + """
import signal, sys
x = np.ones(1 << 24, np.float32)
print("begin", flush=True)
try:
    sf.standard.log_sum_exp(x, uniform=1 << 24, backend="reference")
    print("done")
except KeyboardInterrupt:
    print("interrupted", flush=True)
del x
print(sf.standard.sum(np.ones(3, np.float32), backend="reference")[0], flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begin\n"
    time.sleep(0.15)
    begin = time.perf_counter()
    process.send_signal(signal.SIGINT)
    line = process.stdout.readline()
    taken = time.perf_counter() - begin
    rest = process.stdout.read()  # communicate() would pass over what readline() has read ahead
    process.wait(timeout=120)
    assert process.returncode == 0
    if line == "done\n":
        pytest.skip("the fold had ended before the signal came")
    assert line == "interrupted\n" and rest == "3.0\n"
    assert taken < 1


@pytest.mark.drawn
def test_columns_are_not_copied():
    """The peak of memory while 256 MiB are folded by a back end that reads the caller's memory."""
    program = """
import numpy as np, resource, segfold as sf
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
x = np.ones(1 << 26, np.float32)
op = sf.expression("a + b", "f32", identity="0")
op(x[:4096], uniform=64, backend="reference")
before = peak()
out = np.empty(1, np.float32)
assert op(x, out=out, backend="reference") is out
result = op(x, backend="reference")
print(int(peak() - before), result[0] > 0)
"""
    grown, right = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert right == "True" and int(grown) < 32


def test_results_are_not_copied():
    """An array of results is the memory that the fold has filled, and keeps it."""
    found = sf.standard.argmax(X, uniform=1, backend="reference")
    assert not found.value.flags.owndata and not found.index.flags.owndata
    assert found.index.dtype.char == np.dtype(np.int64).char
    values = found.value
    del found
    np.testing.assert_array_equal(values, X)


def test_notebooks():
    op = sf.operator("# <b>bold</b> & more\noperator most(x: i32) -> i32 { state m: i32 lift x combine(a, b) max(a, b) }")
    plan = sf.plan(op, X, uniform=64, backend="simt")
    for shown in (op._repr_html_(), plan._repr_html_(), sf.check(op)._repr_html_()):
        assert "<b>" not in shown and shown.count("<span") == shown.count("</span>")
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; more" in plan._repr_html_()
    assert plan.source.count("\n") > 20 and "__global__" in plan._repr_html_()
    from segfold._html import highlighted

    assert highlighted('x = 1.5f; // <i>\n"</pre>"') == (
        '<pre style="line-height:1.25">x = <span style="color:#005cc5">1.5f</span>; <span style="color:#6a737d">// &lt;i&gt;'
        '</span>\n<span style="color:#22863a">&quot;&lt;/pre&gt;&quot;</span></pre>'
    )


def test_a_bench_is_a_table_and_a_chart():
    facts = dict(configuration="", is_chosen=False, is_peer=False, outcome="measured", reason="", milliseconds=0.5,
                 quartiles=(0.4, 0.6), bytes_per_second=2e11, fraction=0.5, agrees=True, agreement="reference")  # fmt: skip
    bench = sf.Bench([
        sf.BenchEntry(name="tile_scan", **{**facts, "is_chosen": True}),
        sf.BenchEntry(name="<peer>", **{**facts, "is_peer": True, "bytes_per_second": 1e11, "fraction": 0.25}),
        sf.BenchEntry(name="slow", **{**facts, "outcome": "abandoned", "reason": "too slow"}),
    ])  # fmt: skip
    bench.operator, bench.layout, bench.num_elements, bench.num_segments = "sum(x: f32) -> f32", "offsets", 100, 3
    assert bench.chosen is bench[0]
    assert str(bench) == (
        "sum(x: f32) -> f32, 100 elements in 3 segments (offsets)\n"
        "plan         time      rate  of ceiling\n"
        "tile_scan  0.5 ms  200 GB/s        0.50  chosen\n"
        "<peer>     0.5 ms  100 GB/s        0.25  peer\n"
        "slow                                     too slow"
    )
    bench.chart = {}
    shown = bench._repr_mimebundle_()
    assert shown == {"text/plain": str(bench), "text/html": f"<pre>{html.escape(str(bench))}</pre>"}


def test_a_bench_of_a_back_end_without_times():
    with pytest.raises(sf.DeviceError):
        sf.bench(sf.standard.sum, X, uniform=64, backend="reference")
    with pytest.raises(TypeError, match="nothing is called 'repeat'; did you mean 'repeats'?"):
        sf.bench(sf.standard.sum, X, uniform=64, repeat=3)


def test_the_standard_operators():
    assert {"sum", "argmax", "mean_variance"} < set(dir(sf.standard))
    for name in dir(sf.standard):
        op = getattr(sf.standard, name)
        assert op.name == name and op.description and (op.typed(op.types[0]) if op.is_generic else op).results, name
    assert sf.standard.sum is sf.standard.sum
    assert sf.standard.sum_f32 == sf.standard.sum.typed("f32") and sf.standard.sum_f32.types == ()
    with pytest.raises(AttributeError, match="no operator 'sums'"):
        sf.standard.sums


MODULES = [name for _, name, _ in pkgutil.iter_modules(sf.__path__, "segfold.") if name not in ("segfold._segfold", "segfold.torch")]


@pytest.mark.parametrize("name", ["segfold", *MODULES])
def test_examples_in_docstrings(name):
    if name == "segfold.jax":
        pytest.importorskip("jax")
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


def listings_of(page):
    return doctest.DocTestParser().get_examples(page.read_text())


PAGES = ["README.md", *(f"runtime/python/{name}.md" for name in ("README", "REFERENCE", "PROGRAMS")),
         *(f"docs/guides/{name}.md" for name in ("from_torch", "from_pandas", "debugging"))]  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_listings_of_pages(page, tmp_path, monkeypatch):
    path = pathlib.Path(__file__).resolve().parents[3] / page
    if not path.exists():
        pytest.skip(f"no {page} is here")
    if page.endswith("PROGRAMS.md"):
        pytest.importorskip("jax", reason="JAX is not installed, so that the listings of its programs are not run")
        if not sf._segfold.has_xla():
            pytest.skip("the extension was built without jaxlib's header, so that the listings of JAX's programs are not run")
    examples = listings_of(path)
    assert examples
    monkeypatch.chdir(path.parent)
    found = doctest.testfile(str(path), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert found.failed == 0 and found.attempted == len(examples)


def test_stubs_say_what_is_there():
    nanobind = pytest.importorskip("nanobind", reason="no nanobind is here, which makes the stub")
    if not nanobind.__version__.startswith("3.1."):
        pytest.skip(f"stubs are those of nanobind 3.1, and this is {nanobind.__version__}")
    sources = pathlib.Path(__file__).resolve().parents[1]
    spec = importlib.util.spec_from_file_location("make_stubs", sources / "make_stubs.py")
    make_stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_stubs)
    assert (sources / "segfold" / "_segfold.pyi").read_text() == make_stubs.stub(), make_stubs.__doc__
    tree = ast.parse((sources / "segfold" / "trace.pyi").read_text())
    stubbed = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    stubbed |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    told = next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    assert stubbed == set(told) == set(sf.trace.__all__)
    value = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Value")
    declared = {node.name for node in value.body if isinstance(node, ast.FunctionDef)}
    operations = {name for name, function in vars(sf.trace.Value).items() if name.startswith("__") and callable(function)}
    # What only refuses is not declared, nor what every object has.
    silent = ("init repr hash bool iter len getitem setitem index format float int complex round floor ceil trunc floordiv rfloordiv divmod "
              "rdivmod matmul rmatmul getattr array array_function array_ufunc").split()
    assert declared == operations - {f"__{name}__" for name in silent}
    assert (sources / "segfold" / "py.typed").exists()


WITHOUT_LOCK = {
    # The extension does not load, as a wheel of the stable ABI does not there.
    'sys.modules["segfold._segfold"] = None':
        "this build of segfold is for Python with its lock, and this interpreter runs without; build segfold from source with it "
        "(pip install --no-binary segfold segfold): importing it then turns the lock on",
    # It loads, and the lock stays off, because the user has said so.
    "":
        "segfold needs the interpreter's lock, which PYTHON_GIL=0 or -X gil=0 keeps off; without them, importing segfold turns "
        "the lock on",
}  # fmt: skip


@pytest.mark.parametrize("more", WITHOUT_LOCK)
def test_an_interpreter_without_its_lock_is_refused_in_words(more):
    program = f"""
import sys
sys._is_gil_enabled = lambda: False
{more}
try:
    import segfold
except ImportError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout == WITHOUT_LOCK[more] + "\n"


def test_a_cache_that_cannot_be_kept_is_told_once(tmp_path):
    (tmp_path / "file").touch()
    program = """
import warnings
import numpy as np, segfold as sf
warnings.simplefilter("always")
with warnings.catch_warnings(record=True) as seen:
    sf.plan(sf.standard.sum, np.ones(4))
    sf.standard.sum(np.ones(4), uniform=2)
    sf.standard.max(np.ones(4), keys=np.zeros(4, int))
print(*(f"{warning.category.__name__} {warning.filename}: {warning.message}" for warning in seen), sep="\\n")
"""
    words = {**os.environ, "SEGFOLD_CACHE_DIR": str(tmp_path / "file")}
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, env=words)
    if sf.automatic_backend() != "cpu" or "no C++ compiler" in ran.stdout:
        pytest.skip("no C++ compiler is here, or a GPU folds")
    assert ran.stdout == f"FoldWarning <string>: compiled libraries are not kept: {tmp_path / 'file'} is a link or no folder; a folder is needed\n"


def test_every_function_says_its_types():
    """Those of ``sf.trace`` are in a stub."""
    functions = [getattr(sf, name) for name in sf.__all__ if name not in sf.trace.__all__]
    functions = [function for function in functions if inspect.isfunction(function)]
    assert sf.check in functions and sf.tune in functions
    for function in functions:
        signature = inspect.signature(function)
        untyped = [parameter.name for parameter in signature.parameters.values() if parameter.annotation is inspect.Parameter.empty]
        assert not untyped and signature.return_annotation is not inspect.Signature.empty, function
    typing.get_type_hints(sf.CounterExample)


def test_every_public_thing_has_a_docstring():
    without = [
        name for name in sf.__all__
        if callable(getattr(sf, name)) and not (getattr(sf, name).__doc__ or "").strip()
    ]  # fmt: skip
    assert not without
    assert os.path.exists(sf._segfold.__file__)


@pytest.mark.skipif(not dict(sf.backends()).get("cpu"), reason="no back end cpu is here")
@pytest.mark.drawn
def test_a_tuning_is_heard_by_all_sessions():
    """Sessions that have read the records before the tuning take its winner after it, and so do plans that calls have kept."""
    op = sf.operator(sf.standard.sum.typed("f32").text)
    x, offsets = np.ones(1 << 14, np.float32), np.arange(0, (1 << 14) + 1, 32)
    words = dict(offsets=offsets, backend="cpu", assume="associative")  # a session of its own
    assert sf.plan(op, x, **words).explain()["lookup"] == "none"
    tuned = sf.tune(op, x, offsets=offsets, backend="cpu", seconds=3, evaluations=2)
    facts = sf.plan(op, x, **words).explain()
    assert facts["lookup"] == "exact" and facts["plan"] == tuned.winner + ", tuning record", facts


@pytest.mark.drawn
def test_a_tuning_by_keys_is_heard_where_calls_fold_by_offsets():
    op = sf.operator(sf.standard.sum.typed("i64").text)
    x, keys, offsets = np.ones(1 << 14, np.int64), np.arange(1 << 14) // 32, np.arange(0, (1 << 14) + 1, 32)
    tuned = sf.tune(op, x, keys=keys, backend="cpu", seconds=3, evaluations=2)
    facts = sf.plan(op, x, offsets=offsets, backend="cpu").explain()
    assert facts["lookup"] == "exact" and facts["plan"] == tuned.winner + ", tuning record", facts
