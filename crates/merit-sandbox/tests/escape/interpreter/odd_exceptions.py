# tries: exceptions that are not Exception
# contained: Exception Killed
raise GeneratorExit("odd")
