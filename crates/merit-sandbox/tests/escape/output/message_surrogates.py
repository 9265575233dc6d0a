# tries: an exception with text that cannot be encoded
# contained: Exception
raise ValueError("\ud800" * 10 + "\0")
