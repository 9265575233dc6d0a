# tries: to hide in a finally clause and in a closing generator
# contained: Time
# limits: seconds=0.5
def stubborn():
    while True:
        try:
            yield
        finally:
            while True:
                pass
generator = stubborn()
next(generator)
generator.close()
