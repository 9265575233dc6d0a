//! Tests that stand beside their code. Their files need nothing of the crate, so they are compiled into this program: the library
//! would be compiled a second time for them otherwise.

#[path = "../../src/terms/number.rs"]
mod number;
#[path = "../../src/terms/pay.rs"]
mod pay;
