//! What one try came to when it was not an answer, and whether it may be tried again.

use crate::EndpointError;
use crate::config::RetryCut;
use http::StatusCode;
use std::time::Duration;

/// One try that failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trouble {
    /// No connection, or none that carried an answer.
    Connection(String),
    /// The answer began and broke off or fell silent.
    Cut { pieces: usize, why: String },
    /// A status other than success; `retry_after` is how long the server asks us to wait.
    Status { status: StatusCode, message: String, retry_after: Option<Duration> },
    /// The conversation is too long for the model.
    Overflow { limit: Option<usize>, message: String },
    /// Not what the protocol says.
    Malformed(String),
    /// The answer is longer than this many bytes, the most that is read.
    TooLarge(usize),
}

impl Trouble {
    /// Whether the same request may have better luck.
    pub(crate) fn may_pass(&self, cuts: RetryCut) -> bool {
        match self {
            Self::Connection(_) => true,
            Self::Cut { pieces, .. } => match cuts {
                RetryCut::Never => false,
                RetryCut::BeforePieces => *pieces == 0,
                RetryCut::Always => true,
            },
            Self::Status { status, .. } => {
                status.is_server_error() && *status != StatusCode::NOT_IMPLEMENTED
                    || matches!(status.as_u16(), 408 | 409 | 425 | 429)
            }
            Self::Overflow { .. } | Self::Malformed(_) | Self::TooLarge(_) => false,
        }
    }

    /// How long the server asks us to wait. Absent: it does not say.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// In a few words, for the report of a deadline.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Connection(why) => why.clone(),
            Self::Cut { pieces, why } => format!("the answer broke off after {pieces} pieces: {why}"),
            Self::Status { status, message, .. } => format!("HTTP {}: {message}", status.as_u16()),
            Self::Overflow { message, .. } | Self::Malformed(message) => message.clone(),
            Self::TooLarge(limit) => format!("more than {limit} bytes"),
        }
    }

    /// The error of a request that failed this way for the last time.
    pub(crate) fn into_error(self, endpoint: &str, tries: u32, key_env: Option<&str>) -> EndpointError {
        let endpoint = endpoint.to_owned();
        match self {
            Self::Connection(why) => EndpointError::Connection { endpoint, tries, why },
            Self::Cut { pieces, why } => EndpointError::Cut { endpoint, tries, pieces, why },
            Self::Overflow { limit, message } => EndpointError::ContextOverflow { endpoint, limit, message },
            Self::Malformed(what) => EndpointError::Malformed { endpoint, what },
            Self::TooLarge(limit) => EndpointError::TooLarge { endpoint, limit },
            Self::Status { status, message, retry_after } => {
                let (status, code) = (status.as_u16(), status);
                let retry_after_s = retry_after.map(|span| span.as_secs_f64());
                match status {
                    401 | 403 => {
                        EndpointError::Unauthorised { endpoint, status, message, hint: hint(key_env) }
                    }
                    429 => EndpointError::RateLimited { endpoint, status, tries, message, retry_after_s },
                    _ if code.is_server_error() || matches!(status, 408 | 409 | 425) => {
                        EndpointError::Failing { endpoint, status, tries, message }
                    }
                    _ => EndpointError::Refused { endpoint, status, message },
                }
            }
        }
    }
}

fn hint(key_env: Option<&str>) -> String {
    match key_env {
        Some(name) => format!("; the key comes from `{name}`"),
        None => "; no key was sent: name its environment variable in `api_key_env`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: u16) -> Trouble {
        let status = StatusCode::from_u16(code).unwrap();
        Trouble::Status { status, message: String::new(), retry_after: None }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for code in [408, 409, 425, 429, 500, 502, 503, 504] {
            assert!(status(code).may_pass(RetryCut::Never), "{code}");
        }
        for code in [300, 400, 401, 403, 404, 405, 413, 422, 501] {
            assert!(!status(code).may_pass(RetryCut::Always), "{code}");
        }
        assert!(Trouble::Connection(String::new()).may_pass(RetryCut::Never));
        assert!(!Trouble::Malformed(String::new()).may_pass(RetryCut::Always));
    }

    #[test]
    fn a_cut_answer_is_asked_for_again_as_the_policy_says() {
        let cut = |pieces| Trouble::Cut { pieces, why: String::new() };
        let verdicts = |policy| [cut(0).may_pass(policy), cut(3).may_pass(policy)];
        assert_eq!(verdicts(RetryCut::Never), [false, false]);
        assert_eq!(verdicts(RetryCut::BeforePieces), [true, false]);
        assert_eq!(verdicts(RetryCut::Always), [true, true]);
    }
}
