# tries: pivot_root back to an older root
# contained: Ok Refused
import os
os.mkdir("new")
os.mkdir("new/old")
refused("pivot", "pivot_root", b"new", b"new/old")
refused("pivot dot", "pivot_root", b".", b".")
