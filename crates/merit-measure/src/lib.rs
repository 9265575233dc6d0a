//! Is it true? Statistics and the self-contained report.
