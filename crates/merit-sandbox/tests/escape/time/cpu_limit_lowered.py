# tries: to be killed by its own lowered processor limit, to pass for a timeout or a crash of ours
# contained: Time Killed Exception
# limits: seconds=3
import resource
resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
while True:
    pass
