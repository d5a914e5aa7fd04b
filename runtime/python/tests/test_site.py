"""The site: it is built without a warning, its links lead somewhere, and its lexer knows the language."""

import html.parser
import importlib.util
import pathlib
import resource
import subprocess
import sys
import urllib.parse

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
MOST_SECONDS = 60  # of the processor


class Page(html.parser.HTMLParser):
    """What a page links to, what its parts are called, and its text."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names, self.words = [], set(), []
        self.feed(path.read_text())
        self.text = "".join(self.words)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.names.add(attributes.get("id"))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if not (ROOT / "docs/conf.py").exists():
        pytest.skip("no docs are here")
    missing = [name for name in ("sphinx", "myst_parser", "breathe", "furo") if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"the site is not built: no {', '.join(missing)} is here (docs/requirements.txt)")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", ".", str(folder)],
        cwd=ROOT, capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS)),
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return {path.relative_to(folder): Page(path) for path in folder.rglob("*.html")}


def test_links_of_the_site_lead_to_pages_and_titles(site):
    assert len(site) > 60
    lost = []
    for name, page in site.items():
        for link in page.links:
            target = urllib.parse.urlsplit(link)
            if target.scheme or target.path.startswith("_") or "/_downloads/" in target.path:
                continue
            path = (ROOT / name).parent / urllib.parse.unquote(target.path) if target.path else ROOT / name
            found = site.get(path.resolve().relative_to(ROOT))
            if found is None or target.fragment and target.fragment not in found.names:
                lost.append(f"{name}: {link}")
    assert lost == []


def test_the_site_shows_what_is_generated(site):
    """Texts of help, the modules of Python, and, where Doxygen is, the headers."""
    verbs = site[pathlib.Path("docs/reference/verbs.html")].text
    for path in (ROOT / "runtime/cli/help").glob("*.txt"):
        assert path.read_text().strip() in verbs, path
    modules = site[pathlib.Path("docs/reference/python.html")]
    assert {"segfold.operator", "segfold.Operator.__call__", "segfold.stream", "segfold.torch.fold", "segfold.SpecError"} <= modules.names
    headers = site[pathlib.Path("docs/reference/cpp.html")].text
    assert ("Folds arrays on the host" in headers) != ("Doxygen was not there" in headers)


def test_the_lexer_knows_every_standard_operator(monkeypatch):
    pytest.importorskip("pygments", reason="no Pygments is here (docs/requirements.txt)")
    from pygments.token import Error, Keyword, Name

    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from seg_lexer import SegLexer

    files = sorted((ROOT / "dsl/standard").glob("*.seg"))
    assert len(files) > 50
    for path in files:
        tokens = list(SegLexer().get_tokens(path.read_text()))
        assert not [text for kind, text in tokens if kind is Error], path
        assert (Keyword, "operator") in tokens and any(kind is Name.Class for kind, _ in tokens), path
