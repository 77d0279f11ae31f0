"""Texts of the organiser as HTML, each in full: what Markdown may do here, and what stays as it was written."""

import pytest

from epivote.web.views.prose import prose

LINK = '<a href="{0}" target="_blank" rel="noopener noreferrer">x</a>'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a\nb\n\nc\n", "<p>a<br />\nb</p>\n<p>c</p>"),
        ("*a* **b** `c`", "<p><em>a</em> <strong>b</strong> <code>c</code></p>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("2. a", '<ol start="2">\n<li>a</li>\n</ol>'),
        ("> a", "<blockquote>\n<p>a</p>\n</blockquote>"),
        ("# a", "<p># a</p>"),
        ("a\n===", "<p>a<br />\n===</p>"),
        ("a\n\n***\n\nb", "<p>a</p>\n<p>***</p>\n<p>b</p>"),
        ("<b>a</b>", "<p>&lt;b&gt;a&lt;/b&gt;</p>"),
        ("<div>\na\n</div>", "<p>&lt;div&gt;<br />\na<br />\n&lt;/div&gt;</p>"),
        ("[x](https://e.org/a?b&c)", f"<p>{LINK.format('https://e.org/a?b&amp;c')}</p>"),
        ("[x](http://e.org)", f"<p>{LINK.format('http://e.org')}</p>"),
        ("[x](HTTPS://e.org)", f"<p>{LINK.format('HTTPS://e.org')}</p>"),
        ("[x](mailto:a@e.org)", f"<p>{LINK.format('mailto:a@e.org')}</p>"),
        ("[x](ftp://e.org)", "<p>[x](ftp://e.org)</p>"),
        ("[x](/end)", "<p>[x](/end)</p>"),
        ("[x]()", "<p><a>x</a></p>"),
        ("![x](https://e.org/a.png)", f"<p>!{LINK.format('https://e.org/a.png')}</p>"),
        ("[x]\n\n[x]: https://e.org", "<p>[x]</p>\n<p>[x]: https://e.org</p>"),
    ],
)
def test_a_text_in_full(text, told):
    assert str(prose(text)) == told
