# tries: an exception with a million notes
# contained: Exception Output
error = ValueError("noted")
error.__notes__ = ["n" * 100] * 500_000
raise error
