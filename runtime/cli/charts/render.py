"""Renders charts with vl-convert: render.py CHARTS RESULT.

If RESULT ends in .svg, CHARTS is one Vega-Lite specification. If RESULT ends in .html, CHARTS has a heading, paragraphs and a list of
specifications. An HTML page contains all libraries that it needs, so it works without a network. Text is drawn in the page's own colour, so a
drawing suits light and dark pages.
"""

import html
import json
import sys

import vl_convert

VERSION = "5.21"
WIDTH = 720  # width of a chart in an SVG file, in pixels; in a page, a chart is as wide as the page
COLOURS = "color: #1a1a1a; background: #ffffff;", "color: #e8e8e8; background: #15181c;"
STYLE = f"""\
:root {{ color-scheme: light dark; }}
body {{ font-family: Helvetica, Arial, 'DejaVu Sans', sans-serif; {COLOURS[0]} max-width: 1100px; margin: 2em auto; padding: 0 1em;
  line-height: 1.4; overflow-wrap: break-word; }}
h1 {{ font-size: 1.4em; }}
h2 {{ font-size: 1.1em; margin: 0; }}
h3 {{ font-size: 0.9em; margin: 0.5em 0 0 0; }}
figure {{ margin: 2.5em 0; }}
figcaption {{ margin-bottom: 0.5em; }}
.panels {{ display: grid; gap: 1em 2em; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26em), 1fr)); }}
.panels > div {{ min-width: 0; }}
.chart {{ width: 100%; }}
.numbers {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin: 0.5em 0; font-size: 0.85em; }}
th, td {{ border-bottom: 1px solid #8888; padding: 0.2em 0.8em 0.2em 0; text-align: right; white-space: nowrap; }}
th:first-child {{ text-align: left; font-weight: normal; }}
@media (prefers-color-scheme: dark) {{ body {{ {COLOURS[1]} }} }}
"""


def row(cell, first, others):
    return f"<tr><th>{html.escape(first)}</th>" + "".join(f"<{cell}>{html.escape(other)}</{cell}>" for other in others) + "</tr>\n"


def numbers(panel):
    """Returns an HTML table of a panel's values: bars by row and source, lines by row and size."""
    column = "at" if "mark" in panel else "source"
    values = [value for value in panel["data"]["values"] if "value" in value]
    columns = list(dict.fromkeys(value[column] for value in values))
    rows = {}
    for value in values:
        rows.setdefault(value["row"], {})[value[column]] = value["text"]
    cells = "".join(row("td", name, (texts.get(one, "") for one in columns)) for name, texts in rows.items())
    return f"<table>\n{row('th', '', columns)}{cells}</table>\n"


def page(whole):
    """Returns an HTML page of all charts. Each has its title as wrapping text, and a table of its numbers."""
    figures, specifications = [], []
    for chart in whole["charts"]:
        panels = chart.get("hconcat", [chart])
        titles = chart["title"]
        parts = [f"<figure>\n<figcaption><h2>{html.escape(titles['text'])}</h2>{html.escape(titles.get('subtitle', ''))}</figcaption>\n"
                 f"<div class=\"{'panels' if len(panels) > 1 else 'panel'}\">\n"]  # fmt: skip
        for panel in panels:
            head = f"<h3>{html.escape(panel['title']['text'])}</h3>" if panel is not chart else ""
            parts.append(f'<div>{head}<div class="chart" id="chart-{len(specifications)}"></div></div>\n')
            alone = {name: value for name, value in panel.items() if name != "title"}
            specifications.append({**alone, "$schema": chart["$schema"], "config": chart["config"], "width": "container"})
        parts.append("</div>\n<details>\n<summary>The numbers</summary>\n<div class=\"numbers\">\n")
        parts += (numbers(panel) for panel in panels)
        figures.append("".join(parts) + "</div>\n</details>\n</figure>\n")
    heading = html.escape(whole["heading"])
    paragraphs = "".join(f"<p>{html.escape(text)}</p>\n" for text in whole["paragraphs"])
    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VERSION).replace("</script", "<\\/script")
    data = json.dumps(specifications).replace("<", "\\u003c")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{heading}</title>\n<style>\n{STYLE}</style>\n<script type=\"module\">\n{script}\n"
        f"const specifications = {data};\n"
        "specifications.forEach((one, i) => window.vegaEmbed('#chart-' + i, one, {actions: false, renderer: 'svg'}));\n"
        f"</script>\n</head>\n<body>\n<h1>{heading}</h1>\n{paragraphs}{''.join(figures)}</body>\n</html>\n"
    )


def drawing(whole):
    """Returns an SVG file. Readers who prefer dark pages see light text if the file stands alone or is an image."""
    if whole.get("width") == "container":
        whole = {**whole, "width": WIDTH}
    text = vl_convert.vegalite_to_svg(whole, vl_version=VERSION)
    end = text.index(">") + 1
    light, dark = (colours.split(" background")[0] for colours in COLOURS)
    return f"{text[:end]}<style>svg{{{light}}}@media (prefers-color-scheme: dark){{svg{{{dark}}}}}</style>{text[end:]}\n"


def main(charts, result):
    with open(charts, encoding="utf-8") as file:
        whole = json.load(file)
    with open(result, "w", encoding="utf-8") as file:
        file.write(drawing(whole) if result.endswith(".svg") else page(whole))


main(*sys.argv[1:])
