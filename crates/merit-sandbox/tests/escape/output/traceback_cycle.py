# tries: exceptions that are each other's cause, and groups in groups
# contained: Exception
a, b = ValueError("a"), ValueError("b")
a.__cause__, b.__cause__ = b, a
group = ExceptionGroup("g", [a, b])
for _ in range(200):
    group = ExceptionGroup("g" * 1000, [group, ValueError("x")])
raise group
