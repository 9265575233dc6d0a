# tries: source text with odd encodings, form feeds and NUL in strings
# contained: Ok Exception
attempt("bom", lambda: exec(b"\xef\xbb\xbfprint(1)"))
attempt("declared", lambda: exec(b"# -*- coding: utf-7 -*-\nprint(+AEE-)"))
attempt("nul", lambda: exec("print('\\0')"))
attempt("nul in source", lambda: compile("a\0b", "x", "exec"))
attempt("unknown", lambda: exec(b"# coding: nonsense\n1"))
