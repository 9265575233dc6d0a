# tries: to swallow whatever exception a deadline may raise
# contained: Time
# limits: seconds=0.5
while True:
    try:
        while True:
            pass
    except BaseException:
        continue
