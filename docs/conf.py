"""The site, by Sphinx: all pages of the tree, where they are, and what is generated of the help texts and the sources.

    python3 -m pip install -r docs/requirements.txt
    PYTHONPATH=build/ci/python python3 -m sphinx -W --keep-going -c docs . build/site       then open build/site/index.html

docs/README.md says which pages there are and in which order: each of its titles begins a part of the table of contents. Without
Doxygen the reference of C++ is left out, and its page says so.
"""

import importlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

try:
    import segfold
except ImportError as error:
    raise SystemExit(f"the reference of Python is read from the built package, which is not here ({error}); set PYTHONPATH to BUILD/python") from error

project = "segfold"
author = copyright = "segfold contributors"
version = release = segfold.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "breathe"]
root_doc = "README"
include_patterns = ["*.md", "codegen/**.md", "docs/**.md", "dsl/**.md", "findings/**.md", "kernels/**.md", "papers/**.md", "runtime/**.md", "tests/**.md"]
exclude_patterns = ["build*", ".*", "tests/data/bench"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 6
html_theme = "furo"
html_title = f"segfold {release}"
html_copy_source = False
html_show_sphinx = False
highlight_language = "none"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["torch"]  # what is for its programs is read without it
autodoc_typehints = "none"  # signatures of the stubs and of the sources say them
breathe_default_project = "segfold"
suppress_warnings = ["duplicate_declaration.cpp"]  # of the namespace, once for each header
LINK = re.compile(r"(\[[^]]*\])\(([^)\s#]+)(#[^)\s]*)?\)")


def prose(text, change):
    """The text with each line outside of listings changed."""
    lines, is_listing = [], False
    for line in text.splitlines():
        is_listing ^= line.startswith("```")
        lines.append(line if is_listing or line.startswith("```") else change(line))
    return "\n".join(lines) + "\n"


def of_site(link, folder):
    """A link of the tree as a link of the site: to a folder becomes one to its README, or mere text where there is none."""
    text, path, anchor = link.groups()
    if "://" in path or not (ROOT / folder / path).is_dir():
        return link[0]
    if (ROOT / folder / path / "README.md").exists():
        return f"{text}({path.rstrip('/')}/README.md{anchor or ''})"
    return text[1:-1]


def contents():
    """Tables of contents, one for each title of docs/README.md, of the pages that it names; each page stands once."""
    seen, parts = {"README"}, ["\n```{toctree}\n:hidden:\n\nPages </docs/README>\n```\n"]
    for part in re.split(r"^## ", (ROOT / "docs/README.md").read_text(), flags=re.MULTILINE)[1:]:
        entries = []
        for title, path in re.findall(r"\[([^]]*)\]\(([^)\s#]+\.md)\)", part):
            name = os.path.relpath(ROOT / "docs" / path, ROOT).removesuffix(".md")
            if name not in seen:
                entries.append(f"{title} </{name}>")
                seen.add(name)
        parts.append("\n".join(["", "```{toctree}", ":hidden:", f":caption: {part.splitlines()[0]}", "", *entries, "```", ""]))
    return "".join(parts)


def help_texts():
    """What `segfold help NAME` prints."""
    shown = []
    for path in sorted((ROOT / "runtime/cli/help").glob("*.txt"), key=lambda path: (path.stem != "segfold", path.stem)):
        name = "segfold help" + (f" {path.stem}" if path.stem != "segfold" else "")
        shown.append(f"## {name}\n\n```text\n{path.read_text().rstrip()}\n```\n")
    return "\n".join(shown)


def doxygen(headers, into):
    """Reads public headers, whose paths and names are known by runtime/include/CMakeLists.txt; false without the program."""
    program = shutil.which("doxygen")
    if program:
        known = re.findall(r"\S+\.h\b", (ROOT / "runtime/include/CMakeLists.txt").read_text())
        into.mkdir(parents=True, exist_ok=True)
        settings = dict(PROJECT_NAME="segfold", OUTPUT_DIRECTORY=into, GENERATE_XML="YES", GENERATE_HTML="NO", GENERATE_LATEX="NO", QUIET="YES",
                        INPUT=" ".join(path for path in known if path.rsplit("/")[-1] in headers), JAVADOC_AUTOBRIEF="YES", WARN_IF_UNDOCUMENTED="NO",
                        EXCLUDE_SYMBOLS="segfold::detail segfold::*::detail segfold::Recording segfold::Making segfold::*_handle segfold::require_entry", XML_PROGRAMLISTING="NO")  # fmt: skip
        subprocess.run([program, "-"], input="".join(f"{key} = {value}\n" for key, value in settings.items()), text=True, check=True, cwd=ROOT)
    return bool(program)


def with_what_is_here(text, into):
    """The text without the references for which a tool is missing; it says so instead."""
    headers = re.findall(r"^```\{doxygenfile\} (\S+)", text, re.MULTILINE)
    if headers and not doxygen(headers, into):
        text = re.sub(r"^```\{doxygenfile\} (\S+)\n.*?^```$", r"`\1` is left out: Doxygen was not there when this site was made.", text, flags=re.MULTILINE | re.DOTALL)
    if ".. automodule:: segfold.jax" in text:
        try:
            importlib.import_module("segfold.jax")
        except ImportError:  # no JAX is here, or the package was built without its header
            text = re.sub(r"^\.\. automodule:: segfold\.jax\n.*\n", "segfold.jax could not be imported when this site was made, so this is left out.\n", text, flags=re.MULTILINE)
    return text


def change_source(app, name, source):
    folder = os.path.dirname(name)
    text = prose(source[0], lambda line: LINK.sub(lambda link: of_site(link, folder), line))
    text = with_what_is_here(text.replace("<!-- site: help texts -->", help_texts()), pathlib.Path(app.outdir) / ".doxygen")
    source[0] = text + (contents() if name == root_doc else "")


class Polish(SphinxTransform):
    """Colours operators of the project's language, and takes members out of the namespaces that Breathe shows them in, once for each header."""

    default_priority = 700  # before tables of contents and the index are made

    def apply(self):
        for listing in self.document.findall(nodes.literal_block):
            if listing.get("language") in (None, "default", "none") and re.match(r"(#.*\n)*operator \w+\(", listing.astext()):
                listing["language"] = "seg"
        names = set()
        for shown in list(self.document.findall(addnodes.desc)):
            if shown[0].astext().startswith("namespace "):
                place, name = shown.parent.index(shown), nodes.container(ids=[id for id in shown[0]["ids"] if id not in names])
                shown.parent[place - 1 : place + 1] = [name, *shown[-1].children]  # with the entry of the index before it
                names.update(name["ids"])


def add_index(app, error):
    if not error and app.builder.name == "html":
        (pathlib.Path(app.outdir) / "index.html").write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={root_doc}.html">\n')


def setup(app):
    from seg_lexer import SegLexer

    app.add_lexer("seg", SegLexer)
    app.config.breathe_projects = {"segfold": str(pathlib.Path(app.outdir) / ".doxygen" / "xml")}
    app.add_transform(Polish)
    app.connect("source-read", change_source)
    app.connect("build-finished", add_index)
