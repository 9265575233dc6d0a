//! Panics of worlds, tools and samplers become faults of the side that panicked.

use merit_core::{Boundary, Fault};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`; a panic becomes its message. The caller decides which side it is a fault of; a sampler is asked again for other
/// episodes, each of which it may fail anew.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_text(&*panic))
}

/// Runs a fallible piece of somebody else's code; an error or a panic is laid at `boundary`.
pub(crate) fn guarded<T, E: std::fmt::Display>(
    boundary: Boundary,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, Fault> {
    match caught(work) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(Fault::new(boundary, error.to_string())),
        Err(panic) => Err(Fault::new(boundary, panic)),
    }
}

/// As [`guarded`], for code that cannot fail except by panicking.
pub(crate) fn guarded_infallible<T>(boundary: Boundary, work: impl FnOnce() -> T) -> Result<T, Fault> {
    caught(work).map_err(|message| Fault::new(boundary, message))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let said = panic
        .downcast_ref::<&'static str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    said.map_or_else(|| "panicked".to_owned(), |text| format!("panicked: {text}"))
}
