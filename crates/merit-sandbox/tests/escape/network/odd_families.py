# tries: netlink, packet, vsock, crypto, bluetooth, can and other families
# contained: Ok Refused
names = {16: "netlink", 17: "packet", 40: "vsock", 38: "alg", 31: "bluetooth", 29: "can", 44: "xdp", 41: "kcm", 30: "tipc", 21: "rds", 43: "smc", 15: "key", 9: "x25", 4: "ipx", 45: "mctp"}
for family, name in names.items():
    for kind in (1, 2, 3, 5):
        refused(f"{name} {kind}", "socket", family, kind, 0)
