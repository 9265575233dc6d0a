//! A deterministic mutator over a small corpus of answers, shared by the fuzz driver and its short test.

/// Answers of every kind, and texts that hold them.
const SEEDS: &[&str] = &[
    "42",
    "-7",
    "0.5",
    "1,234.56",
    "50%",
    r"\frac{1}{2}",
    r"\boxed{42}",
    r"\boxed{\frac{3}{4}}",
    "$x=5$",
    r"$x^2+2x+1$",
    r"$(x+1)(x-1)$",
    r"$\sqrt{2}$",
    r"$\sqrt[3]{x}$",
    "(1,2)",
    r"\{1,2,3\}",
    "[0,1)",
    r"$(-\infty,3]\cup[5,\infty)$",
    r"$x<3$",
    r"$1 \le x \le 2$",
    r"$2\pi r$",
    r"$e^{i\pi}$",
    r"$\sin^2 x$",
    r"$\log_2 8$",
    r"$\binom{5}{2}$",
    "5!",
    r"$|x-1|$",
    r"$\begin{pmatrix}1&2\\3&4\end{pmatrix}$",
    r"$1\pm\sqrt{5}$",
    r"$5\text{ cm}$",
    r"$90^\circ$",
    r"$\text{odd}$",
    "1/3",
    "2*x",
    r"$3\frac{1}{2}$",
    r"$\sum_{k=1}^{n} k$",
    r"$\int_0^1 x dx$",
    r"$\lim_{x\to 0} x$",
    "f(x)=2x",
    r"$a_{1}=3, a_2=4$",
    "The answer is 12.",
    r"The final answer is $7$. I hope it is correct.",
    "**Answer:** B",
    r"so \[ x = 3 \]",
    "#### 18",
    r"\boxed{1} and \boxed{2}",
    r"$\mathbb{R}\setminus\{0\}$",
    "12:30",
    r"$7 \equiv 1 \pmod{3}$",
    "1e5",
    "π²/6",
    "½",
    "x₁ ≤ 2",
];

/// Pieces that mutations put in.
const PIECES: &[&str] = &[
    "0",
    "1",
    "9",
    "x",
    "-",
    "+",
    "*",
    "/",
    "^",
    "_",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "|",
    ",",
    ".",
    ";",
    ":",
    "=",
    "<",
    "!",
    "%",
    "$",
    "\\",
    " ",
    "\n",
    "\\frac",
    "\\sqrt",
    "\\left(",
    "\\right)",
    "\\boxed{",
    "\\text{",
    "\\infty",
    "\\cup",
    "\\pm",
    "\\le",
    "^{",
    "_{",
    "\\begin{pmatrix}",
    "&",
    "\\\\",
    "\\end{pmatrix}",
    "\\sin",
    "\\ln",
    "answer",
    "is",
    "and",
    "999999999",
    "!!",
    "^^",
    "é",
    "∞",
    "²",
    "\u{200b}",
];

/// A stream of pairs, the same for the same seed.
pub(crate) struct Mutator {
    state: u64,
}

impl Mutator {
    /// Starts from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) }
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn one_of(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }

    /// A reference and a response, each a seed mutated a few times, often of the same seed.
    pub(crate) fn pair(&mut self) -> (String, String) {
        let seed = self.one_of(SEEDS);
        let other = if self.below(2) == 0 { seed } else { self.one_of(SEEDS) };
        let gold = if self.below(3) == 0 { self.mutated(seed) } else { seed.to_owned() };
        (gold, self.mutated(other))
    }

    fn mutated(&mut self, seed: &str) -> String {
        let mut text = seed.to_owned();
        for _ in 0..1 + self.below(4) {
            self.mutate(&mut text);
        }
        text
    }

    fn boundary(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    fn mutate(&mut self, text: &mut String) {
        let (a, b) = (self.boundary(text), self.boundary(text));
        let (low, high) = (a.min(b), a.max(b));
        match self.below(8) {
            0..=2 => text.insert_str(a, self.one_of(PIECES)),
            3 => text.replace_range(low..high, ""),
            4 => text.replace_range(low..high, self.one_of(PIECES)),
            5 => {
                let copy = text[low..high].to_owned();
                text.insert_str(a, &copy);
            }
            6 => text.insert_str(a, self.one_of(SEEDS)),
            _ => {
                let piece = self.one_of(PIECES).repeat(1 + self.below(12));
                text.insert_str(a, &piece);
            }
        }
    }
}
