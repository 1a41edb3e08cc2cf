//! Any program behind a scenario's path, with Python's lock released while it runs.

use super::live_error;
use crate::request::Request;
use ackclock_live::namespace::become_root;
use ackclock_live::report;
use ackclock_live::shell::Shell;
use ackclock_live::supervise::Answer;
use pyo3::prelude::*;

/// Runs a program behind a scenario's path; returns the ledger as JSON. `say` is called with the run's first line. The run
/// is stopped when `go_on` returns false; its ledger is returned nevertheless.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of one Python function")]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
pub(crate) fn live_shell(
    py: Python<'_>,
    file: &str,
    text: Option<&str>,
    command: Vec<String>,
    peer: Option<String>,
    from_: Option<String>,
    to: Option<String>,
    seed: Option<u64>,
    mtu: u32,
    realtime: bool,
    quiet: bool,
    say: Py<PyAny>,
    go_on: Py<PyAny>,
) -> PyResult<String> {
    let plan = Request::read(py, file, text, Vec::new(), &[], (seed, None))?.into_first();
    let seed = plan.seeds[0];
    let shell = Shell { plan, nodes: [from_, to], command, peer, seed, mtu, realtime, quiet };
    let ends = shell.ends().and_then(|ends| become_root().map(|()| ends)).map_err(|e| live_error(py, &e))?;
    let (mut unsaid, mut raised) = (None, None);
    let ran = py.detach(|| {
        let mut say = |line: &str| unsaid = Python::attach(|py| say.call1(py, (line,)).err());
        let mut report = || {
            let asked =
                Python::attach(|py| py.check_signals().and_then(|()| go_on.call0(py)).and_then(|v| v.extract(py)));
            match asked {
                Ok(true) => Answer::GoOn,
                Ok(false) => Answer::Stop,
                Err(e) => {
                    raised = Some(e);
                    Answer::Stop
                }
            }
        };
        shell.run(&mut say, &mut report)
    });
    match (unsaid.or(raised), ran) {
        (Some(e), _) => Err(e),
        (None, Ok(ended)) => Ok(report::shelled(&ended, seed, &ends).to_string()),
        (None, Err(e)) => Err(live_error(py, &e)),
    }
}
