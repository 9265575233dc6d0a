//! `merit mcp`: merit's tools for other programs. Each client connection has its own sessions, freed when it goes.

use super::{WrongInput, tool};
use crate::cli::tools::Mcp;
use crate::out;
use anyhow::Result;
use merit_core::{Components, Task};
use merit_mcp::{
    ServedAnswer, ServedCall, ServedFuture, ServedTool, ServerInfo, serve_http, serve_stdio, wait,
};
use merit_tools::{EpisodeShared, Tool, ToolAnswer, ToolSession};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub(crate) fn run(arguments: &Mcp, components: &Components) -> Result<()> {
    let shelf = Arc::new(Shelf {
        tools: build(arguments, components)?,
        task: tool::task(arguments.task.as_deref())?,
        deadline: Duration::from_secs(arguments.seconds.into()),
        open: Mutex::default(),
    });
    let served = (0..shelf.tools.len()).map(|at| shelf.served(at)).collect();
    let gone = Arc::clone(&shelf);
    let info = ServerInfo {
        name: "merit".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instructions: None,
        closed: Some(Arc::new(move |session| gone.close(session))),
    };
    match arguments.http {
        None => wait(serve_stdio(served, info))?,
        Some(address) => {
            let server = wait(serve_http(served, address, info))?;
            out::complain(format_args!("serving at {}; Ctrl-C ends it", server.url()));
            let mut signals = signal_hook::iterator::Signals::new([
                signal_hook::consts::SIGINT,
                signal_hook::consts::SIGTERM,
            ])?;
            signals.forever().next();
            wait(server.shutdown());
        }
    }
    Ok(())
}

fn build(arguments: &Mcp, components: &Components) -> Result<Vec<Arc<dyn Tool>>> {
    let mut configs = Vec::new();
    for name in &arguments.tool {
        configs.push(tool::named((name, components), &[], None)?);
    }
    if let Some(file) = &arguments.tools {
        configs.extend(tool::from_file(file, components)?);
    }
    let mut tools = Vec::new();
    for config in &configs {
        tools.extend(config.build().map_err(|error| WrongInput(error.to_string()))?);
    }
    Ok(tools)
}

/// The tools, and what each client has open.
struct Shelf {
    tools: Vec<Arc<dyn Tool>>,
    task: Task,
    deadline: Duration,
    open: Mutex<HashMap<u64, Sessions>>,
}

#[derive(Default)]
struct Sessions {
    shared: EpisodeShared,
    of_tools: HashMap<usize, Arc<dyn ToolSession>>,
}

impl Shelf {
    fn served(self: &Arc<Self>, at: usize) -> ServedTool {
        let card = self.tools[at].spec();
        let shelf = Arc::clone(self);
        ServedTool {
            name: card.name.clone(),
            description: card.summary.clone(),
            input_schema: card.arguments.schema(),
            call: Arc::new(move |call| Arc::clone(&shelf).call(at, call)),
        }
    }

    fn call(self: Arc<Self>, at: usize, call: ServedCall) -> ServedFuture {
        Box::pin(async move {
            let input = match self.tools[at].spec().arguments.input(&Value::Object(call.arguments)) {
                Ok(input) => input,
                Err(why) => return ServedAnswer::Wrong(why),
            };
            let session = match self.session(call.session, at) {
                Ok(session) => session,
                Err(why) => return ServedAnswer::Broken(why),
            };
            match tokio::time::timeout(self.deadline, session.call(input)).await {
                Ok(ToolAnswer::Ok(text)) => ServedAnswer::Ok(text),
                Ok(ToolAnswer::Refused(text) | ToolAnswer::TimedOut(text)) => ServedAnswer::Wrong(text),
                Ok(ToolAnswer::Broken(why)) => ServedAnswer::Broken(why),
                Err(_) => ServedAnswer::Wrong(format!("timed out after {} s", self.deadline.as_secs())),
            }
        })
    }

    fn session(&self, client: u64, at: usize) -> Result<Arc<dyn ToolSession>, String> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Sessions { shared, of_tools } = open.entry(client).or_default();
        if let Some(session) = of_tools.get(&at) {
            return Ok(Arc::clone(session));
        }
        let opened = self.tools[at].open_beside(shared, &self.task, None);
        let session = opened.map_err(|error| error.to_string())?;
        of_tools.insert(at, Arc::clone(&session));
        Ok(session)
    }

    fn close(&self, client: u64) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&client);
    }
}
