//! What a run says of itself in its folder: how tool calls are answered, which checkpoint was lost, what is an ablation.

use crate::driver::Options;
use crate::progress::Event;
use crate::stage::{Place, Stage, Work};
use crate::{RunError, now_ms};
use merit_store::RunFolder;

/// Records that a run begins or goes on, and says so where another version began it.
pub(crate) fn note_start(
    folder: &RunFolder,
    came_back: bool,
    threads: usize,
    place: &Place,
    watch: &mut dyn FnMut(Event),
) -> Result<(), RunError> {
    let (began_with, version) = (folder.info()?.version, env!("CARGO_PKG_VERSION"));
    if began_with != version {
        let text =
            format!("this run was begun by merit {began_with}; what is left of it may come out differently");
        watch(Event::Note { text });
    }
    let kind = if came_back { "resumed" } else { "started" };
    let text = format!("merit {version}, {threads} threads, stage {}, step {}", place.stage, place.step);
    Ok(folder.record_event(now_ms(), kind, &text)?)
}

/// Said of a checkpoint that cannot be loaded.
pub(crate) fn skipped(lost: &merit_store::DamagedCheckpoint) -> String {
    let (path, why) = (lost.path.display(), &lost.why);
    format!("{path} cannot be loaded ({why}); going on from an older checkpoint")
}

/// Says in the run's folder where a stage also trains on observations.
pub(crate) fn note_ablations(folder: &mut RunFolder, stages: &[Stage]) -> Result<(), RunError> {
    for stage in stages.iter().filter(|stage| matches!(stage.work, Work::Learn { .. })) {
        let mask = &stage.recipe.learn.mask;
        if mask.observations() {
            let (phase, name) = (&stage.phase, mask.about().name);
            let text = format!(
                "`{phase}` also trains what tools and the world said (`learn.mask = {name}`); it shows what that does"
            );
            folder.record_event(now_ms(), "ablation", &text)?;
        }
    }
    Ok(())
}

/// The mark that says how the calls of a run are answered; a run without it has made none.
pub const TOOLS_MARK: &str = "tools";

/// Says in the run's folder how calls are answered from now on, and to the watcher if that has changed.
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
