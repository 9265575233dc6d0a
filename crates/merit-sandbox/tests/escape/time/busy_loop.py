# tries: to spin for ever
# contained: Time
# limits: seconds=0.5
while True:
    pass
