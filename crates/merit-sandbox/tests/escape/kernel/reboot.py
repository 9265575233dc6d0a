# tries: to switch the machine off
# contained: Ok Refused
refused("disable ctrl-alt-del", "reboot", 0xFEE1DEAD - (1 << 32), 672274793, 0, 0)
