# tries: a result with an enormous repr
# contained: Ok Output
"x" * 50_000_000
