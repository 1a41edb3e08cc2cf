//! The full measurement: transfers against the kernel, some of them past 2³² twice, and smoltcp's on the same device.

#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod smoltcp_end;
#[cfg(target_os = "linux")]
mod virtual_wire;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    match measure::all(std::env::args().any(|a| a == "--quick")) {
        Ok(true) => std::process::ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("live-bench: bytes differ");
            std::process::ExitCode::FAILURE
        }
        Err(e) => {
            eprintln!("live-bench: {e}");
            std::process::ExitCode::from(e.exit_code())
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("live-bench: {:?}", ackclock_live::supported());
}
