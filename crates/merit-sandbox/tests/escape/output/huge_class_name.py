# tries: an exception whose class has an enormous name
# contained: Exception Output
raise type("E" * 5_000_000, (Exception,), {})("x")
