//! An ACK for every segment.
