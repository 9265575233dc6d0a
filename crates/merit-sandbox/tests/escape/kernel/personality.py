# tries: an execution domain without address randomisation and with readable-means-executable
# contained: Ok Refused
for persona in (0x0040000, 0x0400000, 0x0100000, 0x0008):
    refused(hex(persona), "personality", persona)
