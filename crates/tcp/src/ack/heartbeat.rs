//! BSD's 200 ms heartbeat.
pub(super) fn default_interval() -> crate::time::Nanos {
    crate::time::Nanos::from_millis(200)
}
