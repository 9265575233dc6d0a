//! A server on this machine that answers by a script: real sockets, for tests of whatever asks a model.
//!
//! Plain threads and the simplest HTTP that clients speak; it counts who is there at once and who left early.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What the script is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// How many requests came before.
    pub number: usize,
    pub method: String,
    /// The path with the version, e.g. `/v1/chat/completions`.
    pub path: String,
    /// The headers, names in small letters.
    pub headers: BTreeMap<String, String>,
    /// The body; null when there is none.
    pub body: Value,
}

/// What the server does, in order.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Says nothing more until the other side leaves.
    Hang,
}

impl Reply {
    pub fn json(status: u16, body: &Value) -> Self {
        Self::with_headers(status, &[("content-type", "application/json")], body.to_string().as_bytes())
    }

    /// A chat completion whose only choice says `text` and stops.
    pub fn chat(text: &str) -> Self {
        let message = json!({ "role": "assistant", "content": text });
        let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
        Self::json(200, &json!({ "model": "scripted", "choices": [choice] }))
    }

    /// Any response with these headers.
    pub fn with_headers(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Self {
        let mut head =
            format!("HTTP/1.1 {status} scripted\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let bytes = [head.as_bytes(), b"\r\n", body].concat();
        Self { steps: vec![Step::Send(bytes)] }
    }

    /// A stream of these chunks and the mark of its end.
    pub fn stream(chunks: &[Value]) -> Self {
        chunks.iter().fold(Self::stream_head(), Self::then_event).then_raw("data: [DONE]\n\n")
    }

    /// The beginning of a stream, which lasts until the connection is closed.
    pub fn stream_head() -> Self {
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
        Self::default().then_raw(head)
    }

    /// Sends `chunk` as the next event of a stream.
    #[must_use]
    pub fn then_event(self, chunk: &Value) -> Self {
        self.then_raw(&format!("data: {chunk}\n\n"))
    }

    /// These bytes as they are.
    #[must_use]
    pub fn then_raw(mut self, bytes: &str) -> Self {
        self.steps.push(Step::Send(bytes.as_bytes().to_vec()));
        self
    }

    /// Silence until the other side leaves.
    #[must_use]
    pub fn then_hang(mut self) -> Self {
        self.steps.push(Step::Hang);
        self
    }

    /// The same after a pause.
    #[must_use]
    pub fn after(mut self, pause: Duration) -> Self {
        self.steps.insert(0, Step::Wait(pause));
        self
    }
}

#[derive(Default)]
struct Seen {
    asked: Mutex<Vec<Asked>>,
    now: AtomicUsize,
    peak: AtomicUsize,
    left_early: AtomicUsize,
    stopped: AtomicBool,
}

/// A server that answers by a script until it is dropped.
pub struct ScriptedServer {
    address: SocketAddr,
    seen: Arc<Seen>,
}

impl ScriptedServer {
    /// Starts a server on a free port of this machine.
    pub fn start(script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let (address, seen) = (listener.local_addr()?, Arc::new(Seen::default()));
        let (script, shared) = (Arc::new(script), Arc::clone(&seen));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (script, seen) = (Arc::clone(&script), Arc::clone(&shared));
                // A client that leaves in the middle is counted, not an error.
                std::thread::spawn(move || serve(stream, &*script, &seen));
            }
        });
        Ok(Self { address, seen })
    }

    /// The address up to and with the version.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.seen.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The most requests that were being answered at once.
    pub fn peak(&self) -> usize {
        self.seen.peak.load(Ordering::SeqCst)
    }

    /// How many clients left before their answer was whole.
    pub fn left_early(&self) -> usize {
        self.seen.left_early.load(Ordering::SeqCst)
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.seen.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: TcpStream, script: &(dyn Fn(&Asked) -> Reply + Send + Sync), seen: &Seen) {
    let Ok(Some(mut asked)) = read_request(&stream) else { return };
    {
        let mut all = seen.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.number = all.len();
        all.push(asked.clone());
    }
    let now = seen.now.fetch_add(1, Ordering::SeqCst) + 1;
    seen.peak.fetch_max(now, Ordering::SeqCst);
    let mut steps = script(&asked).steps;
    let last = steps.pop();
    let mut whole = steps.into_iter().all(|step| perform(&stream, step));
    // A client that has read the last bytes may ask again before this thread goes on, so they count as answered before they are sent.
    let sends = matches!(last, Some(Step::Send(_)));
    if sends {
        seen.now.fetch_sub(1, Ordering::SeqCst);
    }
    whole = whole && last.is_none_or(|step| perform(&stream, step));
    if !sends {
        seen.now.fetch_sub(1, Ordering::SeqCst);
    }
    seen.left_early.fetch_add(usize::from(!whole), Ordering::SeqCst);
    let _ = stream.shutdown(Shutdown::Both);
}

/// Whether the other side was still there.
fn perform(mut stream: &TcpStream, step: Step) -> bool {
    match step {
        Step::Send(bytes) => stream.write_all(&bytes).and_then(|()| stream.flush()).is_ok(),
        Step::Wait(pause) => {
            // A client that leaves during the pause closes its side of the connection.
            let _ = stream.set_read_timeout(Some(pause.max(Duration::from_millis(1))));
            !matches!(stream.read(&mut [0]), Ok(0))
        }
        Step::Hang => {
            let _ = stream.set_read_timeout(None);
            let _ = stream.read(&mut [0]);
            false
        }
    }
}

fn read_request(stream: &TcpStream) -> io::Result<Option<Asked>> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut words = first.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Some(Asked { number: 0, method, path, headers, body }))
}
