# tries: escape codes that would clear or retitle a terminal
# contained: Ok
print("\x1b[2J\x1b]0;owned\x07\x1b[999D\r\x08\x08\u202e")
