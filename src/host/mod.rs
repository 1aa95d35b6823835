//! Facts of the machine, probes, hazards.
