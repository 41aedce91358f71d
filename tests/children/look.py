# Looks for a word in every place a process can look in, and prints where it is. The word comes on stdin, so that it is
# not in our own command line.
import os
import sys

word = sys.stdin.readline().strip().encode()


def look(path, only_start=False):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return
    try:
        while chunk := os.read(fd, 1 << 20):
            start = 0
            while (start := chunk.find(word, start)) >= 0:
                end = start
                while end < len(chunk) and (chr(chunk[end]).isalnum() or chunk[end] in b"-_"):
                    end += 1
                print(path, chunk[start:end].decode())
                start = end
            if only_start:
                break
    except OSError:
        pass
    finally:
        os.close(fd)


def descriptors(pid):
    try:
        return os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return []


look("/proc/self/environ")
for name, value in os.environb.items():
    if word in value:
        print("environ", value.decode())
for fd in range(3, 256):
    try:
        os.fstat(fd)
        print("inherited", fd, os.readlink(f"/proc/self/fd/{fd}"))
    except OSError:
        pass
pids = [name for name in os.listdir("/proc") if name.isdigit()] if os.access("/proc", os.R_OK) else [os.getppid()]
for pid in pids:
    if int(pid) == os.getpid():
        continue
    for name in ["environ", "cmdline", "maps", "auxv", "stack", "syscall"]:
        look(f"/proc/{pid}/{name}")
    for fd in descriptors(pid):
        try:
            if os.readlink(f"/proc/{pid}/fd/{fd}").startswith("/"):
                look(f"/proc/{pid}/fd/{fd}", only_start=True)
        except OSError:
            pass
    try:
        open(f"/proc/{pid}/mem", "rb").close()
        if int(pid) == os.getppid():
            print("the parent's memory is open")
    except OSError:
        pass
print("looked")
