# tries: a syntax error in an enormous line
# contained: Exception Output
compile("x = '" + "y" * 5_000_000, "z" * 100_000, "exec")
