//! The differences between a live run and its scenario, one line each.

use super::plan::{model, NEAREST};
use super::{Prepared, Tcp};
use ackclock_sim::scenario::{BackgroundKind, FlowSpec, WireSpec};
use ackclock_tcp::ack::AckSpec;

/// The lines. A line that applies to several flows appears once.
pub(super) fn notes(prepared: &Prepared) -> Vec<String> {
    let mut notes = Vec::new();
    let scenario = &prepared.plan.scenario;
    for ((f, ends), mss) in scenario.flows.iter().zip(&prepared.ends).zip(&prepared.mss) {
        flow_notes(f, ends, *mss, &mut notes);
    }
    for (key, value) in &prepared.sysctls {
        notes.push(format!("{key} = {value} in the namespaces"));
    }
    for (key, value) in &prepared.of_receivers {
        notes.push(format!("{key} = {value} in the receivers' namespace"));
    }
    for b in &scenario.background {
        match b.kind {
            BackgroundKind::Transfers(_) => {
                notes
                    .push("background transfers: simulated on the path, with the stack that the scenario names".into());
            }
            // The path sends the flow's packets as the simulator does.
            BackgroundKind::Source(_) => {}
        }
    }
    let mut once = Vec::with_capacity(notes.len());
    notes.into_iter().for_each(|note| {
        if !once.contains(&note) {
            once.push(note)
        }
    });
    once
}

fn flow_notes(f: &FlowSpec, [sender, receiver]: &[Tcp; 2], mss: u32, notes: &mut Vec<String>) {
    match sender {
        Tcp::Kernel(congestion) => {
            let stack = match model(congestion) {
                Some(stack) => format!("simulated as {stack}"),
                None => format!("the simulator has no model of it and uses {NEAREST}"),
            };
            notes.push(format!("kernel:{congestion}: the stack and its parameters are ignored; {stack}"));
        }
        Tcp::Engine(_) => {}
    }
    let means = if sender.is_kernel() || receiver.is_kernel() { "MSS (TCP_MAXSEG)" } else { "MSS" };
    notes.push(match mss - f.mss {
        0 => format!("segment {} B: {means} {mss}, of which timestamps take 12 B if both ends use them", f.mss),
        stamps => format!("segment {} B: {means} {mss}, of which timestamps take {stamps} B", f.mss),
    });
    if !f.handshake {
        notes.push("handshake = false: a live connection has a handshake".into());
    }
    match f.wire {
        WireSpec::Ipv4 => {}
        WireSpec::Ns2 { .. } => notes.push("wire = ns2: packets count with their real headers".into()),
    }
    if receiver.is_kernel() {
        notes.push(format!(
            "window {} B: TCP_WINDOW_CLAMP of the receiver, which opens its window gradually, without dynamic right-sizing",
            f.window
        ));
        notes.push(format!("ack = {}: the kernel's own delayed ACKs", ack_name(&f.ack)));
    }
}

fn ack_name(ack: &AckSpec) -> &'static str {
    match ack {
        AckSpec::Every => "every segment",
        AckSpec::Delayed { .. } => "delayed",
        AckSpec::DelayedReordered { .. } => "delayed, also for reordered segments",
        AckSpec::Heartbeat { .. } => "heartbeat",
        AckSpec::WindowUpdate { .. } => "with window updates",
        AckSpec::Linux(_) => "Linux's",
        AckSpec::Custom(_) => "custom",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_sim::topology::dumbbell::flow;

    #[test]
    fn a_kernels_congestion_control_is_simulated_by_its_model_or_the_note_says_that_there_is_none() {
        for (name, says) in [
            ("cubic", "simulated as linux-2025"),
            ("reno", "simulated as linux-reno-2025"),
            ("bbr", "simulated as linux-bbr-2025"),
            ("westwood", "the simulator has no model of it and uses linux-2025"),
        ] {
            let (f, mut notes) = (flow(), Vec::new());
            let ends = [Tcp::Kernel(name.to_owned()), Tcp::Kernel(String::new())];
            flow_notes(&f, &ends, f.mss, &mut notes);
            assert_eq!(notes[0], format!("kernel:{name}: the stack and its parameters are ignored; {says}"));
        }
    }
}
