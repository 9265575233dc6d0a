//! Tools with every kind of behaviour, served by the tests and by the `served` example.

use merit_mcp::{ServedAnswer, ServedCall, ServedFuture, ServedTool, ServerInfo};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How far each open session has counted, and how many sessions have closed.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) open: Mutex<HashMap<u64, i64>>,
    pub(crate) closed: Mutex<Vec<u64>>,
    /// Sleeps under way.
    pub(crate) asleep: Mutex<i64>,
}

fn tool(
    name: &str,
    schema: Value,
    call: impl Fn(ServedCall) -> ServedFuture + Send + Sync + 'static,
) -> ServedTool {
    ServedTool {
        name: name.to_owned(),
        description: format!("The {name} of the test server."),
        input_schema: schema,
        call: Arc::new(call),
    }
}

fn ready(answer: ServedAnswer) -> ServedFuture {
    Box::pin(async move { answer })
}

/// Counts a sleep as under way until it ends or is dropped.
struct Asleep(Arc<Counters>);

impl Drop for Asleep {
    fn drop(&mut self) {
        *self.0.asleep.lock().unwrap() -= 1;
    }
}

pub(crate) fn served(counters: &Arc<Counters>) -> (Vec<ServedTool>, ServerInfo) {
    let any = json!({"type": "object"});
    let add = tool(
        "add",
        json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
               "required": ["a", "b"]}),
        |call| {
            let number = |key: &str| call.arguments.get(key).and_then(Value::as_i64);
            ready(match (number("a"), number("b")) {
                (Some(a), Some(b)) => ServedAnswer::Ok((a + b).to_string()),
                _ => ServedAnswer::Wrong("give `a` and `b` as whole numbers".to_owned()),
            })
        },
    );
    let echo =
        tool("echo", any.clone(), |call| ready(ServedAnswer::Ok(Value::Object(call.arguments).to_string())));
    let state = Arc::clone(counters);
    let count = tool("count", any.clone(), move |call| {
        let mut open = state.open.lock().unwrap();
        let counted = open.entry(call.session).or_default();
        *counted += 1;
        ready(ServedAnswer::Ok(counted.to_string()))
    });
    let state = Arc::clone(counters);
    let sleep = tool("sleep", any.clone(), move |call| {
        *state.asleep.lock().unwrap() += 1;
        let asleep = Asleep(Arc::clone(&state));
        let millis = call.arguments.get("millis").and_then(Value::as_u64).unwrap_or(600_000);
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            drop(asleep);
            ServedAnswer::Ok(format!("slept {millis}"))
        })
    });
    let broken =
        tool("broken", any.clone(), |_| ready(ServedAnswer::Broken("the disk is on fire".to_owned())));
    let die = tool("die", any.clone(), |_| {
        eprintln!("last words of the server");
        std::process::exit(7)
    });
    let pid = tool("pid", any.clone(), |_| ready(ServedAnswer::Ok(std::process::id().to_string())));
    let big = tool("big", any, |call| {
        let length = call.arguments.get("bytes").and_then(Value::as_u64).unwrap_or(0);
        ready(ServedAnswer::Ok("x".repeat(length as usize)))
    });
    let state = Arc::clone(counters);
    let closed = move |session| {
        state.open.lock().unwrap().remove(&session);
        state.closed.lock().unwrap().push(session);
    };
    let info = ServerInfo {
        name: "merit-test".to_owned(),
        version: "1.2.3".to_owned(),
        instructions: Some("Add before you count.".to_owned()),
        closed: Some(Arc::new(closed)),
    };
    (vec![add, echo, count, sleep, broken, die, pid, big], info)
}
