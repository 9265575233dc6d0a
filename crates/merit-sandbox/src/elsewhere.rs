//! Systems without the walls: everything compiles, nothing starts.

use crate::{Cancel, Job, LayerStatus, Limits, Report, SandboxError, SandboxSettings};
use std::convert::Infallible;
use std::path::Path;

/// Never made on this system.
#[derive(Debug, Clone)]
pub struct Sandbox(Infallible);

/// Never made on this system.
#[derive(Debug)]
pub struct Session(Infallible);

/// Always [`SandboxError::Unsupported`] here.
pub fn probe(_python: Option<&Path>) -> Result<Vec<LayerStatus>, SandboxError> {
    Err(SandboxError::Unsupported)
}

impl Sandbox {
    /// Always [`SandboxError::Unsupported`] here.
    pub fn start(settings: &SandboxSettings) -> Result<Self, SandboxError> {
        settings.validate()?;
        Err(SandboxError::Unsupported)
    }

    /// Always [`SandboxError::Unsupported`] here.
    pub fn shared(settings: &SandboxSettings) -> Result<Self, SandboxError> {
        Self::start(settings)
    }

    /// Cannot be called.
    pub fn run(&self, _job: Job, _cancel: Option<&Cancel>) -> Result<Report, SandboxError> {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn session(&self, _seed: u64, _limits: &Limits) -> Result<Session, SandboxError> {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn layers(&self) -> &[LayerStatus] {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn settings(&self) -> &SandboxSettings {
        match self.0 {}
    }
}

impl Session {
    /// Cannot be called.
    pub fn run(
        &mut self,
        _cell: &str,
        _seconds: f64,
        _cancel: Option<&Cancel>,
    ) -> Result<Report, SandboxError> {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn alive(&self) -> bool {
        match self.0 {}
    }
}
