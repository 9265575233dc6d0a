//! The role that invents nothing: a call that was not recorded is refused, with the nearest that was.

use super::declared::key;
use super::player::{PlayedCall, ToolPlayer};
use crate::excerpt::{excerpt, refused};
use crate::{ExecKind, ToolFuture};
use merit_core::registry;

/// Longest arguments that are compared with recorded ones, in bytes.
const MAX_COMPARED: usize = 1_000;
/// Most recorded calls that are compared.
const MAX_CALLS: usize = 500;

pub(super) struct ExamplesPlayer;

impl ToolPlayer for ExamplesPlayer {
    fn play(&self, call: PlayedCall) -> ToolFuture {
        let asked = key(&call.arguments);
        let known = call.recorded.0.keys().map(String::as_str).filter(|known| known.len() <= MAX_COMPARED);
        let nearest = (asked.len() <= MAX_COMPARED).then(|| registry::nearest(&asked, known.take(MAX_CALLS)));
        let why = match nearest.flatten() {
            Some(nearest) => {
                format!("nothing is known of these arguments; nearest: {}", excerpt(&nearest, 140))
            }
            None => "nothing is known of these arguments; try others".to_owned(),
        };
        Box::pin(std::future::ready(refused(why)))
    }

    fn remembers(&self) -> bool {
        false
    }

    fn exec_kind(&self) -> ExecKind {
        ExecKind::Instant
    }
}
