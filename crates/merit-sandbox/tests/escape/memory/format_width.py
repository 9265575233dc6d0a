# tries: a format string with an enormous width
# contained: Memory Exception
text = "%*d" % (1 << 33, 1)
escaped(len(text))
