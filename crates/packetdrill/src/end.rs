//! Exits of the program that packetdrill does not cause.

/// The exit code for a script that the plug-in does not understand.
const NOT_UNDERSTOOD: i32 = 77;

/// Ends the program: the script needs something that the plug-in does not have.
pub(crate) fn not_understood(what: &str) -> ! {
    eprintln!("ackclock: not understood: {what}");
    std::process::exit(NOT_UNDERSTOOD)
}

/// Ends the program: the script waits for something that never happens.
pub(crate) fn stuck(what: &str) -> ! {
    eprintln!("ackclock: {what}");
    std::process::exit(1)
}

/// Ends the program: something failed for a reason outside the script.
pub(crate) fn broken(what: &str) -> ! {
    eprintln!("ackclock: {what}");
    std::process::exit(2)
}
