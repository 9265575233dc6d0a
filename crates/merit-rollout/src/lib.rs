//! What did the agent do? The turn loop, batching, stop rules, trees and forks.
