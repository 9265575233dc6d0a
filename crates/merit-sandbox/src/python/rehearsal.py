# Calls played ahead of time, so that real ones find their types made and their pages at hand.

SCENE = "import math\nsum(math.sqrt(i) for i in range(9))"


def rehearse():
    # What every call does, done by the server before it forks: types are made, caches filled and bytecode specialized
    # once, and not in each child on pages that it would have to copy.
    sys.addaudithook(notice)
    for code in [SCENE, "x = [1]\nx[2]", "x ="] * 10:
        play(code)


def play(code):
    # In a child that waits for its job: brings the pages that a call writes to into this process ahead of time.
    import linecache
    import random

    random.seed(0)
    json.loads(json.dumps(Runner().run(code, "<rehearsal>", 60.0, 99)))
    del linecache.cache["<rehearsal>"]
