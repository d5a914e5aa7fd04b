"""Colours of operators in the project's language, for Pygments."""

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, Whitespace

PARTS = ("def", "use", "as", "state", "lift", "finish", "empty", "map", "scan", "reverse", "combine", "append", "laws", "let", "for", "in", "table", "scalar", "row", "each")
TYPES = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "T", "Acc")


class SegLexer(RegexLexer):
    name = "segfold"
    aliases = ["seg"]
    filenames = ["*.seg"]
    tokens = {
        "root": [
            (r"\s+", Whitespace),
            (r"#.*$", Comment.Single),
            (r"(operator)(\s+)(\w+)", bygroups(Keyword, Whitespace, Name.Class)),
            (words(PARTS, prefix=r"\b", suffix=r"\b"), Keyword),
            (words(TYPES, prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (words(("inf", "nan", "true", "false"), prefix=r"\b", suffix=r"\b"), Keyword.Constant),
            (words(("commutative", "idempotent"), prefix=r"\b", suffix=r"\b"), Name.Attribute),
            (r"0x[0-9a-fA-F]+|\d+(\.(?!\.)\d*)?([eE][-+]?\d+)?", Number),
            (r"[A-Za-z_]\w*(?=\()", Name.Function),
            (r"[A-Za-z_]\w*", Name),
            (r"[-+*/%<>=!&|^~?:]", Operator),
            (r"[][(){},;.]", Punctuation),
        ]
    }
