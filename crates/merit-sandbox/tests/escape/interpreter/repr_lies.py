# tries: a result whose repr is no string
# contained: Ok Exception
class Lying:
    def __repr__(self):
        return 7
Lying()
