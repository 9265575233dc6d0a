# tries: a file of the host that anybody may read, by its full name
# contained: Exception
# bare: canary-file
print(open("{{CANARY_FILE}}").read())
