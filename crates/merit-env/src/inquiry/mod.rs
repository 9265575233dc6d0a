//! Somebody who knows more than they say: worlds in which the agent has to find out before it acts.
//!
//! The form (`inquiry`) is filled in for a person who names only some of its slots. In the clinic (`clinic`) a patient is asked for
//! signs until one disease is likely. In the sale (`sale`) a customer has a need, a purse, doubts and little patience.

pub mod clinic;
mod customer;
mod diagnosis;
mod form;
pub mod sale;
mod visit;

pub use customer::{Customer, DOUBTS, NEEDS, Talk};
pub use diagnosis::{DISEASES, Patient, SYMPTOMS, TREATMENTS};
pub use form::{Asked, Form, IDLE, Inquiry, SLOTS};
pub use visit::Visit;
