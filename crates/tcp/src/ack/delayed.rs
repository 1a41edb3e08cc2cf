//! RFC 1122 §4.2.3.2 delayed ACK.
pub(super) fn default_delay() -> crate::time::Nanos {
    crate::time::Nanos::from_millis(200)
}
