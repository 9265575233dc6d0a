//! Does this program do what its tests ask? Runs it in a sandbox against visible and hidden tests, so that tampering with the
//! tests does not help.
//!
//! In: the program's text and its [`Test`]s. Out: a [`CodeVerdict`] with an outcome for each test, or a [`CodeError`] where
//! the sandbox broke or a test is no good; a program is never blamed for those.
//!
//! **Tests are vetted before they meet a program** (`vetting.rs`). Each is run against impostors that do no work: nothing
//! defined, constants, objects that agree with everything, exceptions that end loops, emptied arguments. What breaks there
//! broke without the program, so the test is bad. What an impostor passes is weak: it pays only beside a test which the same
//! impostor fails, and a set of tests that one impostor passes whole is refused for every program alike
//! ([`CodeError::Weak`]). Tests that are data (a call and its result, input and output, asserts of calls with literal
//! arguments against literal values) need no vetting. From the program's first word on, whatever happens is its own doing.
//!
//! **The program and the tests never share an interpreter.** One child of the sandbox, the candidate, runs the program and
//! serves calls of its functions; another, the judge, runs the tests and sees the program's names as stubs. Between them go
//! plain values only, which the judge rebuilds as exact builtin types: what the program does to its own `==`, builtins,
//! modules or files means nothing where the comparison is made, and no text of a test reaches the program. A function given
//! as an argument is called back in the judge; an exception arrives as the builtin class of its name, or as a class under it, with its attributes.
//!
//! What the test gives and is no plain data (an iterator, a file, an object) stays with the test, and the program uses it
//! there, without its inside. What the test patches of the program's surroundings (`input`, the streams, `sys.argv`,
//! `os.environ`, `random.seed`, names of `solution`) holds for the calls it makes.
//!
//! A value that is no plain data (an instance, a function, a generator) stays where it is, and the test holds a handle on it:
//! - it is unequal to all plain data; convert it first (`list(x)`, `x.name`, `float(x)`). Two handles are compared by the
//!   program's own `==`, for then the test asks for just that;
//! - one that the test built itself by calling a class (a name with a capital, or one in `builders`) may be given data in
//!   operators, `in` and methods. One that the program returned may be read, called and iterated; ordering it against plain
//!   data, arithmetic with it and those of its methods that plain data has as well (`startswith`, `count`, …) are refused,
//!   since they would let the program answer for the comparison;
//! - iteration asks for one element at a time, so a generator is as lazy as it was.
//!
//! Containers given as arguments are brought up to date after a call, as in Python; only after calls that return nothing
//! where vetting finds that emptying them would pass the test, as in `f(a) == sorted(a)` ([`WriteBack`]). A test that passes
//! where nothing is defined, calls `eval`, or fails before it took anything from an impostor is a bad test. A test's limit
//! binds the judge as well: what the program makes it compare is the program's time.

mod config;
mod ending;
mod error;
mod extract;
mod harness;
mod limiter;
mod output;
mod pair;
mod plan;
mod record;
mod test;
mod verdict;
mod verifier;
mod vetting;

pub use config::{CodeConfig, CodeExtract, Language};
pub use error::CodeError;
pub use record::CodeRecord;
pub use test::{Asserts, Call, Compare, StdinTest, Test, Types, WriteBack};
pub use verdict::{CodeVerdict, TestOutcome, WeakTest};
pub use verifier::CodeVerifier;
