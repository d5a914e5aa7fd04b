"""The notebooks of the examples: they run, are small, and hold no results."""

import importlib.util
import json
import os
import pathlib

import pytest

import segfold as sf

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
BOOKS = ["operator_from_idea_to_plan", "paper_reproduced"]
MOST_BYTES = 20_000


def notebook(name):
    path = EXAMPLES / f"{name}.ipynb"
    if not path.exists():
        pytest.skip("no examples are here")
    return path


def test_every_notebook_is_tried():
    assert sorted(path.stem for path in EXAMPLES.glob("*.ipynb")) == (BOOKS if EXAMPLES.exists() else [])


@pytest.mark.parametrize("name", BOOKS)
def test_notebooks_hold_no_results(name):
    path = notebook(name)
    assert path.stat().st_size < MOST_BYTES
    cells = json.loads(path.read_text())["cells"]
    assert [cell["cell_type"] for cell in cells].count("code") > 5
    for cell in cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None and not cell["metadata"], cell["id"]


@pytest.mark.parametrize("name", BOOKS)
def test_notebooks_run(name):
    """A cell that raises ends the test; cells assert what the text says of them."""
    path = notebook(name)
    missing = [module for module in ("nbclient", "nbformat", "ipykernel") if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"notebooks are not run: no {', '.join(missing)} is here (docs/requirements.txt)")
    import nbclient
    import nbformat

    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    surroundings = os.environ | dict(PYTHONPATH=str(pathlib.Path(sf.__file__).parents[1]))  # the package that is tested
    nbclient.NotebookClient(book, timeout=240, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute(env=surroundings)
    results = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert len(results) > 3 and not [output for output in results if output.output_type == "error"]


def test_a_wrong_cell_is_seen():
    nbclient = pytest.importorskip("nbclient", reason="no nbclient is here (docs/requirements.txt)")
    nbformat = pytest.importorskip("nbformat", reason="no nbformat is here (docs/requirements.txt)")
    pytest.importorskip("ipykernel", reason="no ipykernel is here (docs/requirements.txt)")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("assert 1 + 1 == 3")])
    with pytest.raises(nbclient.exceptions.CellExecutionError):
        nbclient.NotebookClient(book, timeout=60, kernel_name="python3").execute()
