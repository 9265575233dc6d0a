# tries: to leave with a text as status
# contained: Exception Killed
raise SystemExit("going" * 3)
