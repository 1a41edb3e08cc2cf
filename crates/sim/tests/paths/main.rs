//! What the elements that reorder promise, seen from the hosts.

mod redrawn_delay;
