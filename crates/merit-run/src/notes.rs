//! What a run says of itself in its folder: how tool calls are answered, and which checkpoint was lost.

use crate::driver::Options;
use crate::progress::Event;
use crate::{RunError, now_ms};
use merit_store::RunFolder;

/// Said of a checkpoint that cannot be loaded.
pub(crate) fn skipped(lost: &merit_store::DamagedCheckpoint) -> String {
    let (path, why) = (lost.path.display(), &lost.why);
    format!("{path} cannot be loaded ({why}); going on from an older checkpoint")
}

/// The mark that says how the calls of a run are answered; a run without it has made none.
pub const TOOLS_MARK: &str = "tools";

/// Says in the run's folder how calls are answered from now on, and to whoever watches if that has changed.
pub(crate) fn note_tools(
    folder: &mut RunFolder,
    options: &Options,
    watch: &mut dyn FnMut(Event),
) -> Result<(), RunError> {
    let now = options.toolbox.describe();
    let before: Option<String> = folder.mark(TOOLS_MARK)?;
    if let Some(before) = before.filter(|before| *before != now) {
        watch(Event::Note { text: format!("tool calls were answered {before}; from now on {now}") });
    }
    folder.set_mark(TOOLS_MARK, &now)?;
    Ok(folder.record_event(now_ms(), TOOLS_MARK, &format!("calls are answered {now}"))?)
}
