# tries: the machine's memory, ports, disks and consoles
# contained: Ok
import os
for path in ("/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/tty", "/dev/console", "/dev/ptmx", "/dev/loop-control", "/dev/vsock", "/dev/vhost-net", "/dev/userfaultfd", "/dev/cpu/0/msr", "/dev/input/event0"):
    for mode in (os.O_RDONLY, os.O_RDWR):
        def peek():
            os.open(path, mode | os.O_NONBLOCK)
            escaped("opened " + path)
        attempt(path, peek)
