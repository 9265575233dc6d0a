# tries: a chain of ten thousand exceptions
# contained: Exception
error = ValueError("first")
for index in range(10000):
    newer = ValueError(index)
    newer.__cause__ = error
    error = newer
raise error
