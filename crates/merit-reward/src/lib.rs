//! How good was it, and why? Terms and the reward algebra.
