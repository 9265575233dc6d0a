//! What would this model say, and how likely was it? Embedded decoders: sample, log-probs, train.
