# Whether a value is the expected one, for tests that state a call and its result.

NUMBERS = (int, float, complex)


class Same:
    # `types`: "exact" tells 1 from True and 1.0, and lists from tuples; "numbers" takes 1 and 1.0 for one number;
    # "json" takes tuples for lists as well. `tolerance` is relative to the larger of 1 and the expected number.

    def __init__(self, types, tolerance):
        self.types, self.tolerance = types, tolerance

    def same(self, got, want):
        kinds = type(got), type(want)
        if Remote in kinds:
            return False
        if all(kind in NUMBERS for kind in kinds):
            return (kinds[0] is kinds[1] or self.types != "exact" or self.loose(kinds)) and self.near(got, want)
        if all(isinstance(one, (list, tuple)) for one in (got, want)):
            alike = kinds[0] is kinds[1] or self.types == "json" or kinds[1] is tuple and isinstance(got, tuple)
            return alike and len(got) == len(want) and all(map(self.same, got, want))
        if isinstance(got, dict) and isinstance(want, dict):
            return self.same_table(got, want)
        if kinds[0] is not kinds[1]:
            return False
        if kinds[0] in (set, frozenset):
            return len(got) == len(want) and self.matched(list(got), list(want))
        return got == want

    def loose(self, kinds):
        return self.tolerance is not None and float in kinds

    def near(self, got, want):
        if got != got or want != want:
            return got != got and want != want
        if self.tolerance is None or got == want:
            return got == want
        try:
            return abs(got - want) <= self.tolerance * max(1, abs(want)) < float("inf")
        except OverflowError:
            return False

    def same_table(self, got, want):
        if len(got) != len(want):
            return False
        keys = {key: key for key in got}
        for key in want:
            if key not in keys or not self.same(keys[key], key) or not self.same(got[key], want[key]):
                return False
        return True

    def matched(self, got, want):
        for one in want:
            place = next((at for at, other in enumerate(got) if self.same(other, one)), None)
            if place is None:
                return False
            del got[place]
        return True
