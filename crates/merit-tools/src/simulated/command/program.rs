//! The program behind a set of tools: started when it is first asked, ended when it fails and when its last user is gone.

use super::running::{Running, Said};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub(super) struct Program {
    command: Vec<String>,
    deadline: Duration,
    running: Mutex<Option<Arc<Running>>>,
}

impl Program {
    pub(super) fn new(command: Vec<String>, deadline: Duration) -> Self {
        Self { command, deadline, running: Mutex::new(None) }
    }

    /// The line that answers `question`, and the process that wrote it.
    pub(super) async fn ask(&self, question: String) -> Result<(String, Arc<Running>), String> {
        let (running, answer) = self.send(question)?;
        match tokio::time::timeout(self.deadline, answer).await {
            Ok(Ok(Said::Line(line))) => Ok((line, running)),
            Ok(Ok(Said::Gone(why))) => Err(why),
            Ok(Err(_)) => Err("it is gone".to_owned()),
            Err(_) => {
                self.discard(&running, "it had no answer in time for another question");
                Err(format!("no answer within {} s", self.deadline.as_secs_f64()))
            }
        }
    }

    fn send(&self, question: String) -> Result<(Arc<Running>, tokio::sync::oneshot::Receiver<Said>), String> {
        let mut slot = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let running = match slot.take().filter(|running| !running.is_gone()) {
            Some(running) => running,
            None => Arc::new(Running::start(&self.command)?),
        };
        let answer = running.send(question);
        *slot = Some(Arc::clone(&running));
        Ok((running, answer))
    }

    /// Ends a process, unless another has taken its place already; what else it was asked breaks with `why`.
    pub(super) fn discard(&self, running: &Arc<Running>, why: &str) {
        let mut slot = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.as_ref().is_some_and(|current| Arc::ptr_eq(current, running)) {
            *slot = None;
        }
        drop(slot);
        running.end(why);
    }
}
