//! Is this output right? Verifiers of structured output, queries, text and state, within hard limits.
