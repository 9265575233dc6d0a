//! The role that draws an output from its schema: the same call always gets the same answer.

use super::declaration::Declaration;
use super::declared::{key, shown};
use super::draw::Drawer;
use super::player::{PlayedCall, ToolPlayer};
use crate::{ExecKind, ToolAnswer, ToolFuture};
use merit_core::Seed;
use std::collections::BTreeMap;

/// Draws that are tried when a tool is built, so that a schema that contradicts itself is found then.
const TRIALS: u64 = 32;

pub(super) struct SchemaPlayer {
    seed: Seed,
    drawers: BTreeMap<String, Drawer>,
}

impl SchemaPlayer {
    /// Refuses tools whose output cannot be drawn.
    pub(super) fn new(seed: u64, declarations: &[Declaration]) -> Result<Self, String> {
        let seed = Seed::root(seed).child("simulated", 0);
        let mut drawers = BTreeMap::new();
        for declaration in declarations {
            let named = |why: String| format!("tool `{}`: {why}", declaration.name);
            let returns = declaration.returns.as_ref();
            let returns = returns
                .ok_or_else(|| named("it has no `returns`, so its output cannot be drawn".to_owned()))?;
            let drawer = Drawer::new(returns).map_err(|why| named(format!("`returns` {why}")))?;
            for trial in 0..TRIALS {
                let drawn = drawer.draw(&mut seed.child("trial", trial).stream());
                drawn.map_err(|why| named(format!("`returns` {why}")))?;
            }
            drawers.insert(declaration.name.clone(), drawer);
        }
        Ok(Self { seed, drawers })
    }
}

impl ToolPlayer for SchemaPlayer {
    fn play(&self, call: PlayedCall) -> ToolFuture {
        let name = &call.declaration().name;
        let mut stream = self.seed.child(name, 0).child(&key(&call.arguments), 0).stream();
        let answer = match self.drawers.get(name).map(|drawer| drawer.draw(&mut stream)) {
            Some(Ok(output)) => ToolAnswer::Ok(shown(&output)),
            Some(Err(why)) => ToolAnswer::Broken(format!("`returns` {why}")),
            None => ToolAnswer::Broken(format!("no tool `{name}` in this set")),
        };
        Box::pin(std::future::ready(answer))
    }

    fn remembers(&self) -> bool {
        false
    }

    fn exec_kind(&self) -> ExecKind {
        ExecKind::Instant
    }
}
