//! Tests that stand beside their code. Their files need nothing of the crate, so they are compiled into this program: the library
//! would be compiled a second time for them otherwise.
#![allow(dead_code, unreachable_pub, reason = "what the tests of a file do not reach")]

#[path = "../../src/tasks/cut.rs"]
mod cut;
#[path = "../../src/tasks/deal.rs"]
mod deal;
#[path = "../../src/look/figure.rs"]
mod figure;
#[path = "../../src/ledger/calls.rs"]
mod ledger_calls;
#[path = "../../src/ledger/sql.rs"]
mod ledger_sql;
#[path = "../../src/boards/mines.rs"]
mod mines;
#[path = "../../src/tasks/speech.rs"]
mod speech;
#[path = "../../src/tasks/calls.rs"]
mod task_calls;
