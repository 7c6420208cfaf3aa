"""Rows of delimited text, as owners' files have them, with the line on which each row begins."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from core.datasets.owner import limits
from core.datasets.owner.opening import opened
from core.datasets.owner.refusal import one_line, wrong

SNIFFED = 100
SAMPLE = 200
SURROGATE = re.compile("[\ud800-\udfff]")
# How other kinds of files begin.
KINDS: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a zip archive such as a spreadsheet"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file"),
    (b"%PDF", "a PDF file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x80\x02", "a pickle"),
    (b"\x80\x04", "a pickle"),
    (b"\x80\x05", "a pickle"),
    (b"MATLAB 5.0", "a MATLAB file"),
)
MARKUP = re.compile(rb"<(\?xml|!doctype|html|graphml|gexf)\b", re.IGNORECASE)
JSON = re.compile(rb'(\{\s*["}]|\[\s*[\[{"])')
GML = re.compile(rb"(graph\s*\[|creator\s+\")", re.IGNORECASE)


@contextlib.contextmanager
def delimited(path: Path, spaces: bool = True) -> Iterator[Rows]:
    """Open the rows of a text file, plain or gzip; `spaces`: blanks may separate cells where nothing else does.

    UTF-8 with or without a BOM, or UTF-16 with one; any line ends; cells separated by commas,
    semicolons, tabs or blanks, quoted by `"` where needed. Raises `BadInput` for a missing file and
    for one of another kind; while it is read, for text that can't be decoded and broken quotes.
    """
    with opened(path) as stream:
        yield Rows(stream, path.name, spaces)


class Rows:
    """The rows of an open text file; iterate once over (line, cells), lines counted from 1.

    `sample`: the first rows, known before the rest is read. `width`: cells in the first row, which
    every row must have. Blank lines are left out, and so are comments: lines that begin with `#` or
    `%`, unless one has as many comma-, semicolon- or tab-separated cells as the rows before it and
    no blank after the sign, such as `#tag,1`. Cells lose the blanks around them.
    """

    def __init__(self, stream: io.BufferedReader, file: str, spaces: bool) -> None:
        self.file = file
        lines = _lines(stream, file)
        head = list(itertools.islice(lines, SNIFFED))
        told = re.fullmatch(r"sep=([,;|:\t])\s*", head[0][1]) if head else None
        self.delimiter = told[1] if told else _delimiter([text for _, text in head], spaces)
        self._records = _Records(itertools.chain(head[1 if told else 0 :], lines), file, self.delimiter)
        self.sample = list(itertools.islice(self._records, SAMPLE))
        if not self.sample:
            found = "found only lines that begin with # or %" if self.comments else "found an empty file"
            raise wrong(file, 1, found, "a header line or rows", "write them, in quotes where a cell begins with #")
        self.width = len(self.sample[0][1])

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        first = self.sample[0][0]
        for line, cells in itertools.chain(self.sample, self._records):
            if len(cells) != self.width:
                expected = f"{self.width} as on line {first}"
                remedy = "add or remove separators, or quote the cell"
                raise wrong(self.file, line, f"found {len(cells)} cells", expected, remedy)
            yield line, cells

    @property
    def comments(self) -> int:
        """How many comment lines were left out so far."""
        return self._records.comments


class _Records:
    """What the CSV reader makes of the lines: an iterator of (line, cells)."""

    def __init__(self, lines: Iterator[tuple[int, str]], file: str, delimiter: str) -> None:
        self.comments = 0
        self._lines = lines
        self._file = file
        self._delimiter = delimiter
        self._line = self._start = 1
        self._fresh = True
        self._width = 0
        self._reader = csv.reader(self._wanted(), delimiter=delimiter, skipinitialspace=True, strict=True)

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        return self

    def __next__(self) -> tuple[int, list[str]]:
        while True:
            self._fresh = True
            try:
                cells = [cell.strip() for cell in next(self._reader)]
            except csv.Error as error:
                found, remedy = f"found broken CSV ({one_line(error)})", "close or double the quotes there"
                raise wrong(self._file, self._line, found, "separated cells", remedy) from None
            if any(cells):
                self._width = self._width or len(cells)
                return self._start, cells

    def _wanted(self) -> Iterator[str]:
        """Lines without comments; a line within quotes is never one."""
        for line, text in self._lines:
            self._line = line
            if self._fresh:
                if text.lstrip()[:1] in ("#", "%") and self._is_comment(text.strip()):
                    self.comments += 1
                    continue
                self._fresh, self._start = False, line
            yield text.replace("\t", " ").strip() if self._delimiter == " " else text

    def _is_comment(self, text: str) -> bool:
        plain = self._delimiter != " " and not text[1:2].isspace() and len(text) > 1
        return not (plain and self._width > 1 and text.count(self._delimiter) == self._width - 1)


def _lines(stream: io.BufferedReader, file: str) -> Iterator[tuple[int, str]]:
    start = stream.peek(16)
    plain = start.removeprefix(codecs.BOM_UTF8).lstrip()
    kind = next((kind for magic, kind in KINDS if start.startswith(magic)), None)
    kind = kind or ("an XML or HTML file" if MARKUP.match(plain) else "a JSON file" if JSON.match(plain) else None)
    kind = kind or ("a GML file" if GML.match(plain) else None)
    if kind:
        remedy = "export it as CSV, or let the file name end in what it is"
        raise wrong(file, None, f"found {kind}", "delimited text", remedy)
    utf16 = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    reader = io.TextIOWrapper(stream, "utf-16" if utf16 else "utf-8-sig", errors="surrogateescape", newline="")
    number = 0
    try:
        while text := reader.readline(limits.LONGEST_LINE + 1):
            number += 1
            if len(text) > limits.LONGEST_LINE:
                found = f"found more than {limits.LONGEST_LINE:,} characters"
                raise wrong(file, number, found, "a line", "save the file as text with line ends")
            if "\0" in text:
                remedy = "export it as CSV"
                raise wrong(file, number, "found a zero byte, as binary files have", "text", remedy)
            if not text.isascii() and SURROGATE.search(text):
                found = "found a byte that is not UTF-8"
                raise wrong(file, number, found, "UTF-8 text", "save the file as UTF-8")
            yield number, text
    except UnicodeError:
        found = "found a byte that is not UTF-16 as the file's first bytes announce"
        raise wrong(file, number + 1, found, "UTF-8 text", "save the file as UTF-8") from None


def _delimiter(texts: list[str], spaces: bool) -> str:
    """Return the separator under which all lines have equally many cells, two or more; tabs before the widest."""
    texts = [text for text in texts if text.strip() and text.lstrip()[0] not in "#%"]
    widths = {sign: _widths(texts, sign) for sign in "\t;,"}
    even = {sign: found[0] for sign, found in widths.items() if len(set(found)) == 1 and found[0] > 1}
    if even:
        return "\t" if "\t" in even else max(even, key=even.__getitem__)
    blank = _widths([text.replace("\t", " ").strip() for text in texts], " ") if spaces else []
    if len(set(blank)) == 1 and blank[0] > 1:
        return " "
    widest = max(widths, key=lambda sign: widths[sign][0] if widths[sign] else 0)
    if widths[widest] and widths[widest][0] > 1:
        return widest
    return " " if blank and blank[0] > 1 else ","


def _widths(texts: list[str], delimiter: str) -> list[int]:
    found = []
    reader = csv.reader(iter(texts), delimiter=delimiter, skipinitialspace=True, strict=True)
    with contextlib.suppress(csv.Error):
        for cells in reader:
            if any(cell.strip() for cell in cells):
                found.append(len(cells))
        return found
    # A quote left open may be closed beyond these lines; any other fault speaks against the separator.
    return found if reader.line_num >= len(texts) else []
