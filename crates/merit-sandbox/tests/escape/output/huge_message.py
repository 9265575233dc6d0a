# tries: an exception with an enormous message
# contained: Exception Output
raise ValueError("x" * 50_000_000)
