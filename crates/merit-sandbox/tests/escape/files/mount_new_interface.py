# tries: the new mount calls
# contained: Ok Refused
import ctypes
refused("fsopen", "fsopen", b"tmpfs", 0)
refused("open_tree", "open_tree", -100, b"/", 1)
refused("move_mount", "move_mount", -100, b"/usr", -100, b"/tmp", 0)
refused("mount_setattr", "mount_setattr", -100, b"/", 0, ctypes.create_string_buffer(32), 32)
