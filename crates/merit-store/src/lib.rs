//! A run on disk: SQLite record, atomic checkpoints, resume.
