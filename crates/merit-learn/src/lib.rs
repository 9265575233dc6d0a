//! How does the policy change? Objectives, normalisers, optimiser schedules.
