//! smoltcp on a TUN device, for `ackclock conform conformance --tun tun0 -- target/debug/examples/conform_smoltcp`.
//!
//! It shows what a TCP in a process of its own does: open the device, say hello, then answer lines and move packets.

#[cfg(target_os = "linux")]
#[path = "../../conform/examples/smoltcp/device.rs"]
mod device;
#[cfg(target_os = "linux")]
#[path = "../../conform/examples/smoltcp/sockets.rs"]
mod sockets;
#[cfg(target_os = "linux")]
#[path = "../../conform/examples/smoltcp/stack.rs"]
mod stack;

#[cfg(target_os = "linux")]
mod serve {
    use super::stack::Stack;
    use ackclock_conform::lines::{self, Reply, Request, Side};
    use ackclock_conform::tcp::{Answer, Call, Tcp};
    use ackclock_live::clock::Clock;
    use ackclock_live::tun::Tun;
    use ackclock_tcp::time::{Nanos, Time};
    use nix::poll::{ppoll, PollFd, PollFlags};
    use nix::sys::time::{TimeSpec, TimeValLike};
    use std::error::Error;
    use std::io::{self, Read, Write};
    use std::os::fd::AsFd;

    /// The longest sleep, ns: a call that blocks is tried again after each.
    const NAP: u64 = 1_000_000;

    fn variable(name: &str) -> Result<String, String> {
        std::env::var(name).map_err(|_| format!("{name} is not set: ackclock conform --tun starts this program"))
    }

    /// Answers until the runner closes the input.
    pub(super) fn run() -> Result<(), Box<dyn Error>> {
        let tun = Tun::attach(&variable("ACKCLOCK_TUN")?, false)?;
        let mut tcp = Stack::new(variable("ACKCLOCK_LOCAL")?.parse()?, variable("ACKCLOCK_MTU")?.parse()?)?;
        let (clock, mut unread, mut blocked) = (Clock::start(), Vec::new(), Vec::<(u64, Call)>::new());
        say(&lines::hello(Side::Device))?;
        let mut buf = vec![0; 65_535];
        loop {
            let now = || Time(clock.now().since(Clock::START).0);
            // A device whose link is down cannot be read yet.
            while let Ok(Some(len)) = tun.recv(&mut buf) {
                tcp.on_packet(now(), &buf[..len]);
            }
            while tcp.next_timer().is_some_and(|at| at <= now()) {
                tcp.on_timer(now());
                send(&mut tcp, &tun, now(), &mut buf);
            }
            for at in (0..blocked.len()).rev() {
                let answer = tcp.call(now(), &blocked[at].1);
                if answer != Answer::Wait {
                    say(&lines::reply(blocked.remove(at).0, &Reply::Answer(answer)))?;
                }
            }
            while let Some((id, request)) = next(&mut unread)? {
                let reply = answer(&mut tcp, now(), &request);
                if let (Reply::Answer(Answer::Wait), Request::Call(call)) = (&reply, request) {
                    blocked.push((id, call));
                }
                send(&mut tcp, &tun, now(), &mut buf);
                say(&lines::reply(id, &reply))?;
            }
            send(&mut tcp, &tun, now(), &mut buf);
            let left = tcp.next_timer().map_or(Nanos(NAP), |at| at.since(now()));
            if !sleep(&tun, left.0.min(NAP), &mut unread)? {
                return Ok(());
            }
        }
    }

    fn answer(tcp: &mut dyn Tcp, now: Time, request: &Request) -> Reply {
        let known = |known: bool| if known { Answer::Done(0) } else { Answer::Unknown };
        Reply::Answer(match request {
            Request::Call(call) => tcp.call(now, call),
            Request::Set { name, value } => known(tcp.set(name, value)),
            Request::Info { socket, field } => tcp.info(now, *socket, field).map_or(Answer::Unknown, Answer::Done),
            Request::States => match tcp.states() {
                Some(states) => return Reply::States(states),
                None => Answer::Unknown,
            },
            Request::DropTimeWaits => known(tcp.drop_time_waits()),
        })
    }

    fn send(tcp: &mut dyn Tcp, tun: &Tun, now: Time, buf: &mut [u8]) {
        while let Some(len) = tcp.poll_transmit(now, buf) {
            // A packet that does not fit is lost, as on any wire.
            let _ = tun.send(&buf[..len]);
        }
    }

    fn say(line: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{line}")?;
        out.flush()
    }

    /// The next question that was read.
    fn next(unread: &mut Vec<u8>) -> Result<Option<(u64, Request)>, String> {
        let Some(end) = unread.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let line: Vec<u8> = unread.drain(..=end).collect();
        lines::read_request(&String::from_utf8_lossy(&line)).map(Some)
    }

    /// Waits for a packet or a question, at most `nanos`. Returns whether the input is still open.
    fn sleep(tun: &Tun, nanos: u64, unread: &mut Vec<u8>) -> io::Result<bool> {
        let stdin = io::stdin();
        let mut files = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN), PollFd::new(tun.as_fd(), PollFlags::POLLIN)];
        ppoll(&mut files, Some(TimeSpec::nanoseconds(nanos.cast_signed())), None)?;
        if files[0].any() == Some(true) {
            let mut buf = [0; 4096];
            // Unbuffered, so that no line waits where `ppoll` does not see it.
            let len = std::fs::File::from(stdin.as_fd().try_clone_to_owned()?).read(&mut buf)?;
            unread.extend_from_slice(&buf[..len]);
            return Ok(len > 0);
        }
        Ok(true)
    }
}

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    let done = serve::run();
    #[cfg(not(target_os = "linux"))]
    let done = ackclock_live::supported();
    match done {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("conform_smoltcp: {why}");
            std::process::ExitCode::from(2)
        }
    }
}
