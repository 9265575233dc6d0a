# tries: text that cannot be encoded
# contained: Ok Exception
print("\ud800\udfff" * 10)
