//! Live runs: the engine on a device, with Python's lock released, and ended by Ctrl-C.

#[cfg(target_os = "linux")]
mod path;
#[cfg(target_os = "linux")]
mod shell;

use ackclock_live::LiveError;
use pyo3::prelude::*;

/// A refusal, or a failure, as `ackclock.errors.LiveError`.
pub(crate) fn live_error(py: Python<'_>, e: &LiveError) -> PyErr {
    let make = || {
        let class = py.import("ackclock.errors")?.getattr("LiveError")?;
        class.call1((e.to_string(), e.exit_code()))
    };
    make().map_or_else(|failed| failed, PyErr::from_value)
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{live_bench, live_recv, live_send};
#[cfg(target_os = "linux")]
pub(crate) use path::{live_path, LiveRun};
#[cfg(target_os = "linux")]
pub(crate) use shell::live_shell;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{live_bench, live_path, live_recv, live_send, live_shell};

#[cfg(target_os = "linux")]
pub(crate) mod linux {
    use super::live_error;
    use ackclock_live::bench::{Direction, Family, Transfer};
    use ackclock_live::namespace::become_root;
    use ackclock_live::stream::Stream;
    use ackclock_live::supervise::{supervise, Answer, Progress, Shared};
    use ackclock_live::transfer::{Other, Wanted, What};
    use ackclock_live::{report, LiveError};
    use ackclock_tcp::stack::Stack;
    use ackclock_tcp::units::parse_bytes;
    use ackclock_wire::Buffers;
    use pyo3::prelude::*;
    use std::net::SocketAddr;
    use std::path::PathBuf;

    /// Runs `work` alongside Python; `progress` is called with the share that is done, and may raise an exception to end it.
    pub(crate) fn run<T: Send>(
        py: Python<'_>,
        progress: Option<&Py<PyAny>>,
        work: impl FnOnce(&Shared) -> Result<T, LiveError> + Send,
    ) -> PyResult<T> {
        let mut raised = None;
        let ran = py.detach(|| {
            let mut report = |Progress { done, of }: Progress| {
                Python::attach(|py| {
                    let share = if of == 0 { 0.0 } else { done as f64 / of as f64 };
                    let tell = || progress.map_or(Ok(()), |p| p.call1(py, (share,)).map(drop));
                    match py.check_signals().and_then(|()| tell()) {
                        Ok(()) => Answer::GoOn,
                        Err(e) => {
                            raised = Some(e);
                            Answer::Stop
                        }
                    }
                })
            };
            supervise(&mut report, work)
        });
        match (raised, ran) {
            (Some(e), _) => Err(e),
            (None, Ok(done)) => Ok(done),
            (None, Err(e)) => Err(live_error(py, &e)),
        }
    }

    fn stack(py: Python<'_>, name: &str) -> PyResult<Stack> {
        let unknown =
            || LiveError::Input(format!("found the stack \"{name}\", allowed: a stack that `ackclock stacks` lists"));
        Stack::named(name).ok_or_else(|| live_error(py, &unknown()))
    }

    fn address(py: Python<'_>, option: &str, text: &str) -> PyResult<SocketAddr> {
        let allowed = "an address with a port, as in 10.77.0.2:5001 or [fd77::2]:5001";
        let bad = |_| LiveError::Input(format!("command line: key `{option}`: found \"{text}\", allowed: {allowed}"));
        text.parse().map_err(|e: std::net::AddrParseError| live_error(py, &bad(e)))
    }

    fn size(py: Python<'_>, text: &str) -> PyResult<u64> {
        let bad = |_| {
            LiveError::Input(format!("command line: key `--bytes`: found \"{text}\", allowed: a size, as in 100 MB"))
        };
        parse_bytes(text).map_err(|e| live_error(py, &bad(e)))
    }

    /// One transfer to or from the kernel; returns an entry as JSON. `say` is called with the run's first line.
    #[pyfunction]
    #[expect(clippy::too_many_arguments, reason = "the arguments of one Python function")]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
    pub(crate) fn live_bench(
        py: Python<'_>,
        sends: bool,
        v6: bool,
        offload: bool,
        bytes: &str,
        mtu: u32,
        stack_name: &str,
        realtime: bool,
        pcap: Option<PathBuf>,
        say: Py<PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let transfer = Transfer {
            direction: if sends { Direction::Send } else { Direction::Receive },
            family: if v6 { Family::V6 } else { Family::V4 },
            offload,
            bytes: size(py, bytes)?,
            mtu,
            stack: stack(py, stack_name)?,
            buffers: BUFFERS,
            realtime,
            pcap,
        };
        let prepared = become_root().and_then(|()| transfer.prepare());
        let (bench, link) = prepared.map_err(|e| live_error(py, &e))?;
        say.call1(py, (transfer.describe(&link),))?;
        let outcome = run(py, progress.as_ref(), |shared| transfer.run(&bench, link, shared))?;
        Ok(report::entry(&transfer, &outcome).to_string())
    }

    /// The options of a file's transfer, as Python passes them in a dictionary.
    #[derive(FromPyObject)]
    #[pyo3(from_item_all)]
    pub(crate) struct Way {
        tun: Option<String>,
        /// The kernel's file, without a device.
        peer: Option<String>,
        mtu: u32,
        offload: bool,
        stack: String,
        realtime: bool,
        pcap: Option<PathBuf>,
    }

    /// Sends a file, `-` for standard input; returns the result as JSON. `say` is called with the run's first line.
    #[pyfunction]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
    pub(crate) fn live_send(
        py: Python<'_>,
        file: &str,
        to: &str,
        from_: Option<&str>,
        way: Way,
        say: Py<PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let to = address(py, "--to", to)?;
        let from = from_.map(|from| own_address(py, from)).transpose()?;
        transfer(py, What::Send(Stream::named(file), to), from, way, &say, progress.as_ref())
    }

    /// Receives one connection into a file, `-` for standard output; returns the result as JSON. `say` is called with the
    /// run's first line.
    #[pyfunction]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
    pub(crate) fn live_recv(
        py: Python<'_>,
        file: &str,
        listen: &str,
        way: Way,
        say: Py<PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let what = What::Receive(Stream::named(file), address(py, "--listen", listen)?);
        transfer(py, what, None, way, &say, progress.as_ref())
    }

    const BUFFERS: Buffers = Buffers { send: 4 << 20, receive: 1 << 20 };

    fn transfer(
        py: Python<'_>,
        what: What,
        from: Option<SocketAddr>,
        way: Way,
        say: &Py<PyAny>,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<String> {
        let Way { tun, peer, mtu, offload, stack: name, realtime, pcap } = way;
        let (may, other) = match tun {
            Some(name) => (Ok(()), Other::Tun(name)),
            None => (become_root(), Other::Kernel(peer.as_deref().map(Stream::named))),
        };
        let stack = stack(py, &name)?;
        let wanted = Wanted { what, other, from, mtu, offload, stack, buffers: BUFFERS, realtime, pcap };
        let ready = may.and_then(|()| wanted.prepare()).map_err(|e| live_error(py, &e))?;
        say.call1(py, (ready.describe(),))?;
        let done = run(py, progress, |shared| ready.run(shared))?;
        Ok(report::transferred(&done).to_string())
    }

    /// An address, with or without a port.
    fn own_address(py: Python<'_>, text: &str) -> PyResult<SocketAddr> {
        match text.parse() {
            Ok(ip) => Ok(SocketAddr::new(ip, 0)),
            Err(_) => address(py, "--from", text),
        }
    }
}

/// The same functions, which explain in one sentence why they are unavailable.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::live_error;
    use pyo3::prelude::*;
    use pyo3::types::{PyDict, PyTuple};

    fn refuse(py: Python<'_>) -> PyResult<String> {
        ackclock_live::supported().map(|()| String::new()).map_err(|e| live_error(py, &e))
    }

    /// Functions with these names, for any arguments.
    macro_rules! refusing {
        ($($name:ident),*) => {$(
            #[pyfunction]
            #[pyo3(signature = (*_arguments, **_named))]
            pub(crate) fn $name(
                py: Python<'_>,
                _arguments: &Bound<'_, PyTuple>,
                _named: Option<&Bound<'_, PyDict>>,
            ) -> PyResult<String> {
                refuse(py)
            }
        )*};
    }

    refusing!(live_bench, live_path, live_send, live_recv, live_shell);
}
