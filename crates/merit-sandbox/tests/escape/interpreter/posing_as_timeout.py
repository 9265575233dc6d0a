# tries: exceptions that a harness may use for its own limits
# contained: Exception
raise TimeoutError("deadline exceeded")
