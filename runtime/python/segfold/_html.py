"""HTML for notebooks: highlighted text, plans, laws and benches. All text is escaped."""

import html
import re

_KEYWORDS = set(
    "operator state lift combine append finish empty map scan reverse laws let table scalar row each commutative idempotent true false inf nan "
    "using struct extern const constexpr return if else for while do break continue static inline namespace "
    "__global__ __device__ __shared__ __launch_bounds__ __restrict__ __host__ unsigned signed int long short char "
    "bool float double void auto i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64".split()
)
_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/|\#[^\n]*)|(?P<text>\"(?:\\.|[^\"\\\n])*\")"
    r"|(?P<number>\b(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)[uUlLfF]*\b)|(?P<word>[A-Za-z_]\w*)|(?P<other>.)",
    re.DOTALL,
)
_STYLE = {
    "comment": "color:#6a737d",
    "text": "color:#22863a",
    "number": "color:#005cc5",
    "keyword": "color:#d73a49",
}


def highlighted(source):
    """Returns text of the operator language, CUDA or C++ as highlighted HTML."""
    parts = []
    for match in _TOKEN.finditer(source):
        kind, text = match.lastgroup, html.escape(match.group())
        if kind == "word" and match.group() in _KEYWORDS:
            kind = "keyword"
        style = _STYLE.get(kind)
        parts.append(f'<span style="{style}">{text}</span>' if style else text)
    return f'<pre style="line-height:1.25">{"".join(parts)}</pre>'


def _folded(summary, content):
    return f"<details><summary>{html.escape(summary)}</summary>{content}</details>"


def _table(rows):
    cells = "".join(
        f'<tr><th style="text-align:left">{html.escape(str(name))}</th>'
        f'<td style="text-align:left">{html.escape(str(value))}</td></tr>'
        for name, value in rows
    )
    return f"<table>{cells}</table>"


def operator_html(op):
    """Returns the text of an operator as HTML."""
    return highlighted(op.text)


def plan_html(plan):
    """Returns a plan as HTML: its facts, then the operator and the emitted text in collapsed sections."""
    rows = [("operator", plan.operator.signature), ("back end", f"{plan.backend}: {plan.device}")]
    rows += plan.explain().items()
    parts = [_table(rows), _folded("operator", highlighted(plan.operator.text))]
    if plan.source:
        parts.append(_folded(f"emitted text, {plan.source.count(chr(10))} lines", highlighted(plan.source)))
    return "".join(parts)


def laws_html(report):
    """Returns the findings on an operator's laws as an HTML table."""
    colours = {"refuted": "#d73a49", "proved": "#22863a", "holds_exhaustively": "#22863a"}
    rows = "".join(
        f'<tr><th style="text-align:left">{html.escape(finding.law)}</th>'
        f'<td style="color:{colours.get(finding.verdict, "inherit")}">{html.escape(finding.verdict.replace("_", " "))}</td>'
        f'<td style="text-align:left"><pre>{html.escape(finding.text)}</pre></td></tr>'
        for finding in report
    )
    return f"<table>{rows}</table>"


def bench_html(bench):
    """Returns a bench as HTML: its table, and above it a drawing of its chart if vl-convert is installed."""
    table = f"<pre>{html.escape(str(bench))}</pre>"
    if not bench.chart:
        return table
    try:
        import vl_convert
    except ImportError:
        return table
    return vl_convert.vegalite_to_svg({**bench.chart, "width": 640}, vl_version="5.21") + _folded("table", table)
