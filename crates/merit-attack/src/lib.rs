//! Can this reward be had without the work? Probes, audits and grades for rewards, worlds and scorers.
