# tries: one call into C that takes hours and never looks up
# contained: Time Memory
# limits: seconds=0.5
n = 3 ** 400_000_000
