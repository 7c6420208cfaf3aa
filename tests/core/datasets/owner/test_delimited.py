import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets.owner import limits
from core.datasets.owner.delimited import delimited
from tests.core.datasets.refusal import refusal


def rows(path, content, spaces=True):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with delimited(path, spaces) as found:
        return found.delimiter, list(found), found.comments


@pytest.fixture
def file(tmp_path):
    return tmp_path / "f.csv"


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1;2\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ("a b\n1  2\n", " "),
        ("a \t b\n1\t 2\n", "\t"),
        ("1;2,5\n2;3,5\n", ";"),
        ("id,tags\n1,a;b\n2,c\n", ","),
        ("title\tyear\none, two\t3\nfour, five\t6\n", "\t"),
        ("title, full\tyear\none, two\t3\n", "\t"),
        ('"a;b","c;d"\n"e;f","g;h"\n', ","),
        ("name\nAnn\nBob\n", ","),
        ("sep=|\na|b\n1|2\n", "|"),
        ("a,b,c\n1,2\n3,4,5\n", ","),
    ],
)
def test_the_separator_is_told_from_the_lines(file, content, delimiter):
    file.write_text(content)
    with delimited(file) as found:
        assert found.delimiter == delimiter


def test_blanks_separate_only_where_they_may(file):
    assert rows(file, "name\nAnn Lee\n", spaces=False)[1] == [(1, ["name"]), (2, ["Ann Lee"])]
    assert rows(file, '"Ann Lee"  Bob\n Cyd "D E" \n')[1] == [(1, ["Ann Lee", "Bob"]), (2, ["Cyd", "D E"])]


def test_lines_are_those_of_the_file(file):
    content = '# note\r\n\r\na,b\r\n"two\r\nlines",1\r\n\r\n# note\r\nc,2\r\n'
    assert rows(file, content) == (",", [(3, ["a", "b"]), (4, ["two\r\nlines", "1"]), (8, ["c", "2"])], 2)


@pytest.mark.parametrize(
    ("content", "kept", "comments"),
    [
        ("a,b\n#x,1\n", ["#x"], 0),
        ("a,b\n# x,1\n", [], 1),
        ("a,b\n#x\n", [], 1),
        ("a,b\n#x,1,2\n", [], 1),
        ('a,b\n"# x",1\n', ["# x"], 0),
        ("a b\n#x 1\n", [], 1),
        ("#a,b\n#x,1\n1,2\n", ["2"], 2),
        ('a,b\n"1\n# no comment",2\n', ["1\n# no comment"], 0),
    ],
)
def test_comments_are_told_from_ids_that_look_like_them(file, content, kept, comments):
    _, found, left_out = rows(file, content)
    assert left_out == comments
    assert [cells[0] for _, cells in found[1:]] == kept or [cells[1] for _, cells in found] == kept


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_with_a_mark_are_read(file, encoding):
    assert rows(file, "id,x\nZoë,李\n".encode(encoding))[1][1] == (2, ["Zoë", "李"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "line 1: found an empty file"),
        (b"\n \n,\n", "line 1: found an empty file"),
        (b"\xff\xfea\x00\x00", "UTF-16"),
        ("a,b\n\u00e9,1\n".encode("latin-1"), "line 2: found a byte that is not UTF-8"),
        (b"a,b\n\xed\xa0\x80,1\n", "line 2: found a byte that is not UTF-8"),
        (b"graph [\n node [ id 1 ]\n]", "a GML file"),
        (b"\xef\xbb\xbf  <?xml version='1.0'?>", "an XML"),
        (b'{"nodes": []}', "a JSON file"),
        (b"SQLite format 3\0", "an SQLite database"),
    ],
)
def test_what_is_no_text_is_named(file, content, said):
    file.write_bytes(content)

    def read():
        with delimited(file) as found:
            list(found)

    assert said in refusal(read)


def test_a_line_without_end_is_refused(file, monkeypatch):
    monkeypatch.setattr(limits, "LONGEST_LINE", 20)
    assert "line 2: found more than 20 characters" in refusal(rows, file, "a,b\n" + "x" * 30)


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5).map(str.strip)


@given(st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=8), st.sampled_from(",;\t"))
def test_what_the_csv_module_writes_in_quotes_is_read_back(tmp_path_factory, table, delimiter):
    table = [row for row in table if any(row)]
    if not table:
        return
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(table)
    file = tmp_path_factory.mktemp("text") / "f.csv"
    _, found, comments = rows(file, stream.getvalue())
    assert [row for _, row in found] == table
    assert comments == 0
