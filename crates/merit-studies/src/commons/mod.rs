//! A common-pool resource and a society that lives on it.

pub mod mind;
pub mod resource;
pub mod society;
