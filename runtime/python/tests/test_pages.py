"""The pages: links lead somewhere, the README is short and shows what is, and all say the same version. test_sides runs the listings."""

import doctest
import pathlib
import re
import subprocess

import numpy as np
import pytest

import segfold as sf

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOP = {
    "CHANGELOG.md", "CITATION.cff", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md",
    "codegen", "docs", "dsl", "findings", "kernels", "papers", "pyproject.toml", "runtime", "segfold", "test", "tests",
}  # fmt: skip


def existing(path):
    if not (ROOT / path).exists():
        pytest.skip(f"no {path} is here")
    return ROOT / path


def files_of_checkout():
    """Those that git has or would take, relative to the top folder."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("this is no checkout of git, which tells files from those of builds")
    return sorted(name for name in listed.stdout.split("\0") if name and (ROOT / name).exists())


def prose_of(text):
    """The lines outside of listings."""
    lines, is_listing = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            is_listing = not is_listing
        elif not is_listing:
            lines.append(line)
    return lines


def anchors_of(text):
    """What the titles of a page are called in links."""
    titles = [line.lstrip("#").strip() for line in prose_of(text) if line.startswith("#")]
    titles = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles]
    return {re.sub(r"[^\w -]", "", title).replace(" ", "-") for title in titles}


def links_of(text):
    prose = re.sub(r"`[^`]*`", "", "\n".join(prose_of(text)))
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in link]


def lost_links(page, text):
    lost = []
    for link in links_of(text):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or anchor and anchor not in anchors_of(target.read_text() if path else text):
            lost.append(link)
    return lost


def test_calls_in_tables_are_those_of_listings():
    """Of the pages for those who come from elsewhere: a call in the right column of a table has been run above it."""
    text = "\n".join(existing(f"docs/guides/{name}.md").read_text() for name in ("from_torch", "from_pandas"))
    run = "\n".join(example.source for example in doctest.DocTestParser().get_examples(text))
    names = {"lengths": "np.array([3, 2, 0, 4])"}
    calls = [call for line in prose_of(text) if line.startswith("|") for call in re.findall(r"`([^`]*sf\.standard[^`]*)`", line)]
    assert len(calls) > 10
    for call in calls:
        if "m.data" not in call:  # of SciPy, which need not be here
            given = re.sub(r"=(\w+)\)", lambda match: f"={names.get(match[1], match[1])})", call)
            assert given in run, call


def test_links_lead_to_pages_and_titles():
    page = ROOT / "CONTRIBUTING.md"
    assert anchors_of("# The `a_b` of [x](y), *now*\n```\n# no title\n```\n") == {"the-a_b-of-x-now"}
    text = "# One\n[a](#one) [b](#two) [c](LICENSE) [d](none.md) `[e](none.md)`\n```\n[f](none.md)\n```\n[g](https://none)\n"
    assert lost_links(page, text) == ["#two", "none.md"]
    pages = [name for name in files_of_checkout() if name.endswith(".md")]
    assert len(pages) > 40
    assert {name: lost for name in pages if (lost := lost_links(ROOT / name, (ROOT / name).read_text()))} == {}


def test_every_page_of_docs_is_listed():
    listed = links_of(existing("docs/README.md").read_text())
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert pages - set(listed) == {"README.md"}


def variables_of(sources):
    """The variables of the environment that texts read: by getenv and what stands around it, by os.environ, by shells, by pip's builds."""
    text = "\n".join(sources)
    read = re.compile(r'"(SEGFOLD_[A-Z0-9_]+)"|environ(?:\.get\(|\.setdefault\(|\[)"(SEGFOLD_\w+)"|\$\{?(SEGFOLD_[A-Z0-9_]+)|if\.env\.(SEGFOLD_\w+)')
    return {name for groups in read.findall(text) for name in groups if name}


def test_all_variables_of_the_environment_are_in_one_table():
    """Of CMake's own variables, which look alike, only those count that something else reads."""
    assert variables_of(['getenv("SEGFOLD_A")', "${SEGFOLD_B:-}", "if.env.SEGFOLD_C = true", "SEGFOLD_D"]) == {"SEGFOLD_A", "SEGFOLD_B", "SEGFOLD_C"}
    page = existing("docs/guides/debugging.md").read_text()
    told = {name for line in page.splitlines() if line.startswith("|") for name in re.findall(r"SEGFOLD_\w+", line.split("|")[1])}
    kinds = {".cpp", ".h", ".c", ".cu", ".py", ".sh", ""}
    names = [name for name in files_of_checkout() if pathlib.Path(name).suffix in kinds and not name.startswith("tests/golden/")] + ["pyproject.toml"]
    texts = [(ROOT / name).read_text(errors="ignore") for name in names if "test_pages" not in name and not name.endswith("interpreters.py")]
    assert variables_of(texts) == told


def test_the_readme_is_short():
    """Words hold a letter or a digit, and stand outside of listings; those of tables count."""
    words = re.findall(r"\S*\w\S*", "\n".join(prose_of(existing("README.md").read_text())))
    assert len(words) <= 900


def test_the_readme_shows_what_is_emitted():
    listing = re.search(r"^```cuda\n(.*?)^```$", existing("README.md").read_text(), re.DOTALL | re.MULTILINE)[1]
    op = sf.operator(existing("tests/data/flights/late_streak.seg"))
    plan = sf.plan(op, np.zeros(2, np.float32), offsets=np.array([0, 2]), backend="simt", stage="warp_per_segment")
    begin = 0
    pieces = listing.split("// ...\n")
    assert len(pieces) == 3
    for piece in pieces:
        begin = plan.source.find(piece, begin)
        assert begin >= 0, f"not emitted, or not in this order:\n{piece}"


def test_the_readme_repeats_the_operator_and_rows_of_the_page_of_speed():
    readme, speed = existing("README.md").read_text(), existing("docs/speed.md").read_text()
    rows = [line for line in readme.splitlines() if re.match(r"\| `\w+(=|:|`).*\d \|$", line)]
    assert len(rows) == 8
    for row in rows:
        assert row.replace(" | ", " | 2^28 | ", 1) in speed
    operator = existing("tests/data/flights/late_streak.seg").read_text()
    shown = next(text for text in re.findall(r"^```\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE) if text.startswith("operator "))
    assert sf.operator(shown) == sf.operator(operator)


def test_the_readme_shows_what_flights_fold_to():
    folder = existing("tests/data/flights")
    op = sf.operator(folder / "late_streak.seg")
    found = op(np.load(folder / "departure_delay.npy"), offsets=np.load(folder / "offsets.npy"))
    labels, offsets = (folder / "aircraft.txt").read_text().split(), np.load(folder / "offsets.npy")
    longest = np.argsort(-found.streak, kind="stable")[:5]
    rows = [f"{s} {labels[s]} {offsets[s + 1] - offsets[s]} {found.streak[s]} {found.flights[s]}" for s in longest]
    shown = [" ".join(line.split()) for line in existing("README.md").read_text().splitlines()]
    begin = shown.index("segment label length streak flights") + 1
    assert shown[begin : begin + 5] == rows


def test_the_top_folder_holds_what_it_should():
    """Files and folders that begin with a dot, and these."""
    tops = {name.split("/")[0] for name in files_of_checkout()}
    assert {name for name in tops if not name.startswith(".")} == TOP


def test_one_version_is_told():
    version = re.search(r"project\(segfold VERSION ([0-9.]+)", existing("CMakeLists.txt").read_text())[1]
    assert sf.__version__ == version
    assert f"\nversion: {version}\n" in existing("CITATION.cff").read_text()
    assert f'"segfold": "{version}"' in existing("runtime/cli/help/json.txt").read_text()
    assert re.search(r"^## ([0-9.]+)", existing("CHANGELOG.md").read_text(), re.MULTILINE)[1] == version
