//! The second implementations: every component of every layer once more, as plain as possible, in the place of an algorithm from
//! outside. A stack of them must do the same as the engine's own at each event.

mod after_timer;
mod bbr;
mod board;
mod consequences;
mod counting;
mod counting_linux;
mod cubic;
mod delayed;
mod doubt;
mod give_back;
mod judges;
mod judges_of_copies;
mod late;
mod linux_growth;
mod oracle;
mod pause;
mod presumed;
mod quic;
mod rack;
pub(crate) mod rates;
mod reno;
mod repair_by_dups;
mod repair_by_sack;
mod repair_counted;
mod repair_in_rounds;
mod start;
mod tail;
mod tcp_pr;
mod threshold_fa;
mod thresholds;
mod timer;
mod timer_ticks;
mod vegas;
mod view;
mod watched;
pub(crate) mod witness;

use ackclock_tcp::congestion::{Congestion, CongestionSpec};
use ackclock_tcp::detect::{DetectSpec, Detector};
use ackclock_tcp::disorder::{Disorder, DisorderSpec};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::scoreboard::Sent;
use ackclock_tcp::recovery::{Recovery, RecoverySpec};
use ackclock_tcp::rto::{Rto, RtoSpec};
use ackclock_tcp::spurious::{Spurious, SpuriousSpec};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::startup::{Startup, StartupSpec};
use ackclock_tcp::time::Time;
use ackclock_tcp::timeout::{Timeout, TimeoutSpec};
use ackclock_tcp::undo::{Undo, UndoSpec};
use ackclock_tcp::Factory;
use std::sync::{Arc, Mutex};
use watched::{Watched, WatchedRto};
use witness::{Auditor, Notebook, Witness};

/// The slots of a stack, by their names in a description.
pub(crate) const SLOTS: [&str; 9] =
    ["rto", "detect", "disorder", "recovery", "timeout", "congestion", "startup", "spurious", "undo"];

/// Kinds that are written once only, by slot and name in files. They stay in their slot when a stack's components are replaced, and
/// need not be drawn.
pub(crate) const UNWRITTEN: &[(&str, &str)] = &[];

fn is_unwritten(stack: &Stack, slot: &str) -> bool {
    let described = serde_json::to_value(stack).expect("a description");
    UNWRITTEN.iter().any(|(of, kind)| *of == slot && described[slot]["kind"] == *kind)
}

/// Stands for the second implementation of a kind in [`UNWRITTEN`].
#[expect(dead_code, reason = "no kind is unwritten at present")]
fn unwritten() -> ! {
    unreachable!("kinds in UNWRITTEN stay in their slots")
}

/// A factory of second implementations.
fn outside<T: ?Sized>(make: impl Fn(u32) -> Box<T> + Send + Sync + 'static) -> Factory<T> {
    Factory { name: "second".into(), identity: 2, make: Arc::new(make) }
}

/// What is written down outside of the sender, for its second components: what they are told is compared with it. None in a
/// connection with a handshake, both ends of which send.
pub(crate) type Notes = Option<Arc<Mutex<Notebook>>>;

/// A factory whose components show the notebook what they hear.
macro_rules! watched {
    ($what:ty, $of:expr, $notes:expr) => {{
        let of: Factory<$what> = $of;
        match $notes.clone() {
            None => of,
            Some(notebook) => outside(move |mss| -> Box<$what> {
                Box::new(Watched::<$what> { inner: (of.make)(mss), notebook: Arc::clone(&notebook) })
            }),
        }
    }};
}

/// The stack with second implementations in these slots.
pub(crate) fn replaced(stack: &Stack, slots: &[&str], notes: &Notes) -> Stack {
    let mut s = stack.clone();
    let slots: Vec<&str> = slots.iter().copied().filter(|slot| !is_unwritten(stack, slot)).collect();
    if let Some(Ok(mut n)) = notes.as_ref().map(|n| n.lock()) {
        n.everybody = slots.len() == SLOTS.len();
        n.complete = n.everybody && !n.greets;
    }
    for slot in slots {
        match slot {
            "rto" => s.rto = RtoSpec::Custom(shared(stack, notes)),
            "detect" => s.detect = DetectSpec::Custom(witnessed(detect(&stack.detect), notes)),
            "disorder" => s.disorder = DisorderSpec::Custom(watched!(dyn Disorder, disorder(&stack.disorder), notes)),
            "recovery" => s.recovery = RecoverySpec::Custom(watched!(dyn Recovery, recovery(&stack.recovery), notes)),
            "timeout" => s.timeout = TimeoutSpec::Custom(watched!(dyn Timeout, timeout(&stack.timeout), notes)),
            "congestion" => {
                s.congestion =
                    CongestionSpec::Custom(watched!(dyn Congestion, congestion(&stack.congestion, notes), notes))
            }
            "startup" => s.startup = StartupSpec::Custom(watched!(dyn Startup, startup(&stack.startup), notes)),
            "spurious" => s.spurious = SpuriousSpec::Custom(audited(spurious(&stack.spurious), notes)),
            "undo" => s.undo = UndoSpec::Custom(watched!(dyn Undo, undo(&stack.undo), notes)),
            _ => unreachable!("{slot} is no slot"),
        }
    }
    s
}

fn shared(stack: &Stack, notes: &Notes) -> Factory<dyn Rto> {
    let (of, stack) = (rto(&stack.rto), stack.clone());
    let Some(notebook) = notes.clone() else { return of };
    outside(move |mss| -> Box<dyn Rto> {
        let inner = Arc::new(Mutex::new((of.make)(mss)));
        if let Ok(mut n) = notebook.lock() {
            n.view.rto = Some(Arc::clone(&inner));
        }
        Box::new(WatchedRto { inner, own: stack.build(mss).rto, notebook: Arc::clone(&notebook) })
    })
}

fn witnessed(of: Factory<dyn Detector>, notes: &Notes) -> Factory<dyn Detector> {
    let Some(notebook) = notes.clone() else { return of };
    outside(move |mss| -> Box<dyn Detector> {
        let inner = (of.make)(mss);
        if let Ok(mut n) = notebook.lock() {
            n.active = !n.greets;
            n.view.owns_rto = inner.owns_rto();
        }
        Box::new(Witness { inner, notebook: Arc::clone(&notebook) })
    })
}

fn audited(of: Factory<dyn Spurious>, notes: &Notes) -> Factory<dyn Spurious> {
    let Some(notebook) = notes.clone() else { return of };
    outside(move |mss| -> Box<dyn Spurious> {
        Box::new(Auditor { inner: (of.make)(mss), notebook: Arc::clone(&notebook) })
    })
}

fn rto(spec: &RtoSpec) -> Factory<dyn Rto> {
    let spec = spec.clone();
    outside(move |mss| -> Box<dyn Rto> {
        match &spec {
            RtoSpec::Rfc6298(s) => Box::new(timer::Rfc6298::new(s, mss)),
            RtoSpec::Linux(s) => Box::new(timer::Linux::new(s)),
            RtoSpec::Net2Ticks(s) => Box::new(timer_ticks::Net2Ticks::new(s)),
            RtoSpec::Quic(s) => Box::new(timer_ticks::Quic::new(s)),
            RtoSpec::Custom(f) => (f.make)(mss),
        }
    })
}

fn detect(spec: &DetectSpec) -> Factory<dyn Detector> {
    let spec = spec.clone();
    outside(move |mss| -> Box<dyn Detector> {
        match &spec {
            DetectSpec::DupAck(s) => Box::new(counting::DupAck::new(s, mss)),
            DetectSpec::Sack(s) => Box::new(counting::Sack::new(&s.threshold, mss)),
            DetectSpec::Delayed(s) => Box::new(delayed::Delayed::new(s)),
            DetectSpec::Vegas(s) => Box::new(counting::Vegas::new(s, mss)),
            DetectSpec::RackTlp(s) => Box::new(rack::RackTlp::new(s)),
            DetectSpec::LinuxNoSack(s) => Box::new(counting_linux::LinuxNoSack::new(s)),
            DetectSpec::Fack(s) => Box::new(counting::Fack(s.clone())),
            DetectSpec::TcpPr(s) => Box::new(tcp_pr::TcpPr::new(s)),
            DetectSpec::Quic(s) => Box::new(quic::Quic::new(s)),
            DetectSpec::Netstack => Box::new(counting::Netstack::default()),
            DetectSpec::Late(s) => Box::new(late::Late::new(s)),
            DetectSpec::Oracle => Box::new(oracle::Oracle::new()),
            DetectSpec::Custom(f) => (f.make)(mss),
        }
    })
}

fn disorder(spec: &DisorderSpec) -> Factory<dyn Disorder> {
    let spec = spec.clone();
    outside(move |mss| -> Box<dyn Disorder> {
        match &spec {
            DisorderSpec::Nothing => Box::new(doubt::ByWindow::new(doubt::Allowance::None)),
            DisorderSpec::LimitedTransmit => Box::new(doubt::ByWindow::new(doubt::Allowance::Two)),
            DisorderSpec::Extended(s) => Box::new(doubt::ByWindow::new(doubt::Allowance::Extended(s.clone()))),
            DisorderSpec::Pipe => Box::new(doubt::Pipe::default()),
            DisorderSpec::Ncr(s) => Box::new(doubt::Ncr::new(s.mode)),
            DisorderSpec::Custom(f) => (f.make)(mss),
        }
    })
}

fn recovery(spec: &RecoverySpec) -> Factory<dyn Recovery> {
    let spec = spec.clone();
    outside(move |mss| -> Box<dyn Recovery> {
        match &spec {
            RecoverySpec::Tahoe => Box::new(repair_by_dups::Tahoe),
            RecoverySpec::Reno(s) => Box::new(repair_by_dups::Reno::new(s)),
            RecoverySpec::Newreno(s) => Box::new(repair_by_dups::NewReno::new(s)),
            RecoverySpec::InOpen => Box::new(repair_by_dups::InOpen),
            RecoverySpec::SackFf96(s) => Box::new(repair_counted::Sack1::new(s)),
            RecoverySpec::Rfc6675(s) => Box::new(repair_by_sack::ByPipe::rfc6675(s.rearm_on_rexmit)),
            RecoverySpec::Prr(s) => Box::new(repair_counted::Prr::new(s)),
            RecoverySpec::Fack(s) => Box::new(repair_by_sack::ByPipe::fack(s.rampdown)),
            RecoverySpec::RateHalving => Box::new(repair_by_sack::ByPipe::rate_halving()),
            RecoverySpec::ByRate => Box::new(repair_by_sack::ByPipe::by_rate()),
            RecoverySpec::Hoe(s) => Box::new(repair_in_rounds::Hoe::new(s)),
            RecoverySpec::Robust(s) => Box::new(repair_in_rounds::Robust::new(s)),
            RecoverySpec::Netstack(s) => Box::new(repair_by_sack::ByPipe::netstack(s.marks)),
            RecoverySpec::Custom(f) => (f.make)(mss),
        }
    })
}

fn timeout(spec: &TimeoutSpec) -> Factory<dyn Timeout> {
    let spec = spec.clone();
    outside(move |mss| -> Box<dyn Timeout> {
        match &spec {
            TimeoutSpec::GoBackN(s) => Box::new(after_timer::GoBackN(s.clone())),
            TimeoutSpec::Sack(s) => Box::new(after_timer::Sack::new(s)),
            TimeoutSpec::Frto(s) => Box::new(after_timer::Frto::new(s)),
            TimeoutSpec::Custom(f) => (f.make)(mss),
        }
    })
}

fn congestion(spec: &CongestionSpec, notes: &Notes) -> Factory<dyn Congestion> {
    let notes = notes.clone().filter(|n| n.lock().is_ok_and(|n| !n.greets));
    let spec = spec.clone();
    outside(move |mss| -> Box<dyn Congestion> {
        match &spec {
            CongestionSpec::Aimd(s) => Box::new(reno::Aimd { spec: s.clone(), bytes_acked: 0 }),
            CongestionSpec::Net2(s) => Box::new(reno::Net2(s.clone())),
            CongestionSpec::Cubic(s) => Box::new(cubic::Cubic::new(s)),
            CongestionSpec::Cubic2008(s) => Box::new(cubic::Cubic2008::new(s)),
            CongestionSpec::LinuxReno => Box::new(linux_growth::LinuxGrowth::reno()),
            CongestionSpec::LinuxCubic(s) => Box::new(linux_growth::LinuxGrowth::cubic(s)),
            CongestionSpec::Bbr(s) => Box::new(bbr::Bbr::new(s.hz, mss, notes.clone())),
            CongestionSpec::Vegas(s) => Box::new(vegas::Vegas::new(s)),
            CongestionSpec::TcpPr => Box::new(reno::TcpPr),
            CongestionSpec::Quic(s) => Box::new(reno::Quic(s.clone())),
            CongestionSpec::NetstackReno => Box::new(reno::NetstackReno::default()),
            CongestionSpec::Custom(f) => (f.make)(mss),
        }
    })
}

fn startup(spec: &StartupSpec) -> Factory<dyn Startup> {
    let spec = spec.clone();
    outside(move |mss| -> Box<dyn Startup> {
        match &spec {
            StartupSpec::Fixed(s) => {
                Box::new(start::Fixed { segments: s.initial_window_segs, ssthresh: s.ssthresh_segs })
            }
            StartupSpec::Hystart(s) => Box::new(start::Hystart::new(s)),
            StartupSpec::HystartPlusPlus(s) => Box::new(start::HystartPlusPlus::new(s)),
            StartupSpec::Bdp(s) => Box::new(start::Bdp::new(s)),
            StartupSpec::Smooth(s) => Box::new(start::Smooth(s.clone())),
            StartupSpec::Custom(f) => (f.make)(mss),
        }
    })
}

fn spurious(spec: &SpuriousSpec) -> Factory<dyn Spurious> {
    let spec = spec.clone();
    outside(move |mss| -> Box<dyn Spurious> {
        match &spec {
            SpuriousSpec::Nothing => Box::new(judges::Nobody),
            SpuriousSpec::Dsack(s) => Box::new(judges_of_copies::Dsack::new(s)),
            SpuriousSpec::Eifel(s) => Box::new(judges::Eifel::new(s)),
            SpuriousSpec::RttMin(s) => Box::new(judges::RttMin { spec: s.clone(), timed: None }),
            SpuriousSpec::Linux(s) => Box::new(judges::Linux::new(s)),
            SpuriousSpec::LateAck => Box::new(judges_of_copies::LateAck::default()),
            SpuriousSpec::Netstack(s) => Box::new(judges::Netstack::new(s)),
            SpuriousSpec::Custom(f) => (f.make)(mss),
        }
    })
}

fn undo(spec: &UndoSpec) -> Factory<dyn Undo> {
    let spec = spec.clone();
    outside(move |mss| -> Box<dyn Undo> {
        Box::new(give_back::Returning(match &spec {
            UndoSpec::Nothing => give_back::Returns::Nothing,
            UndoSpec::SlowStartBack(s) => give_back::Returns::SlowStart(s.clone()),
            UndoSpec::EifelResponse(s) => give_back::Returns::Eifel(s.clone()),
            UndoSpec::Restore(s) => give_back::Returns::Everything(s.clone()),
            UndoSpec::Custom(f) => return (f.make)(mss),
        }))
    })
}

// What the facts say, in numbers.

fn mss(cx: &Ctx) -> f64 {
    f64::from(cx.mss)
}

fn acked(ack: &AckEvent) -> u64 {
    ack.ack.0 - ack.prior_una.0
}

fn advances(ack: &AckEvent) -> bool {
    ack.ack.0 != ack.prior_una.0
}

/// RFC 5681 §2, FlightSize.
fn flight(cx: &Ctx) -> u64 {
    cx.snd_max.0 - cx.snd_una.0
}

/// The whole segments of a window, in bytes.
fn whole(bytes: f64, cx: &Ctx) -> u64 {
    (bytes / mss(cx)).floor() as u64 * u64::from(cx.mss)
}

/// Bytes as segments, the last of which may be short.
fn segments(bytes: u64, cx: &Ctx) -> u64 {
    let mss = u64::from(cx.mss);
    bytes / mss + u64::from(!bytes.is_multiple_of(mss))
}

fn end_of(s: &Sent) -> u64 {
    board::end(s)
}

/// The timestamp clock.
fn ms(at: Time) -> u32 {
    (at.0 / 1_000_000) as u32
}

/// RFC 7323 §5.2.
fn is_older(a: u32, b: u32) -> bool {
    let ahead = b.wrapping_sub(a);
    ahead > 0 && ahead <= 1 << 31
}
