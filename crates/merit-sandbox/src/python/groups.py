# Control groups, where this kernel lets us make one: memory and task limits over a whole server and its children.

def group_folders():
    # Folder per controller in which a group of ours may be made: version 1 hierarchies, then version 2.
    with open("/proc/self/cgroup") as file:
        mine = [line.strip().split(":", 2) for line in file]
    with open("/proc/self/mounts") as file:
        mounts = [line.split() for line in file]
    found = {}
    for _, controllers, path in mine:
        for _, target, kind, options, *_ in mounts:
            if kind == "cgroup" and controllers:
                for name in {"memory", "pids"} & set(controllers.split(",")) & set(options.split(",")):
                    found.setdefault(name, target + path)
            elif kind == "cgroup2" and not controllers:
                for name in offered_below(target + path):
                    found.setdefault(name, target + path)
    return found


def offered_below(folder):
    try:
        with open(folder + "/cgroup.subtree_control") as file:
            return {"memory", "pids"} & set(file.read().split())
    except OSError:
        return set()


LIMIT_FILES = {"memory": ("memory.max", "memory.limit_in_bytes"), "pids": ("pids.max",)}


def make_groups(name, limits):
    # Makes a group per controller with its limit. Returns the folders made and a text; none made is not an error.
    made, notes = [], []
    try:
        folders = group_folders()
    except OSError as error:
        return [], "no cgroups to be seen: %s" % error
    for controller, parent in sorted(folders.items()):
        folder = os.path.join(parent, name)
        try:
            if folder not in made:
                os.mkdir(folder)
                made.append(folder)
            write_limit(folder, controller, limits[controller])
            notes.append(controller)
        except OSError as error:
            notes.append("%s refused: %s" % (controller, error.strerror))
    return made, ", ".join(notes) or "no memory or pids controller is given to us"


def write_limit(folder, controller, value):
    for file in LIMIT_FILES[controller]:
        path = os.path.join(folder, file)
        if os.path.exists(path):
            with open(path, "w") as out:
                out.write(str(value))
            return
    raise OSError(errno.ENOENT, "no limit file")


def enter_groups(folders, pid):
    for folder in folders:
        with open(os.path.join(folder, "cgroup.procs"), "w") as out:
            out.write(str(pid))


def remove_groups(folders):
    import time

    for folder in folders:
        for _ in range(200):
            try:
                os.rmdir(folder)
                break
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.005)
