//! The causes of stalls. A run and a capture name the same causes; some only one of the two can tell.

/// Why a transfer stood still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A segment was lost, and the retransmission timer had to send it again.
    Timeout,
    /// In a run: a segment was lost, and a tail loss probe found or repaired the loss (RFC 8985 §7). In a capture: after a
    /// silence of the network, with data outstanding, new data was sent, as a probe may.
    LossProbe,
    /// The end of the data was lost, so that no later data could reveal the loss, and the timer had to.
    TailLoss,
    /// A segment and its retransmission were lost.
    LostRetransmission,
    /// A segment was lost and sent again after duplicate ACKs, or was never sent again.
    Loss,
    /// The receiver threw a segment away.
    Refusal,
    /// A segment arrived, and its ACKs were lost.
    LostAcks,
    /// A segment or its ACK was late.
    Delay,
    /// A segment or its ACK was late, and the retransmission timer fired although nothing was lost.
    NeedlessTimeout,
    /// The receiver's window was closed, or full.
    ReceiverWindow,
    /// The outstanding data filled the congestion window: the next segment waited for an ACK.
    CongestionWindow,
    /// Everything that had been written was sent.
    ApplicationIdle,
    /// Its sender had room and data, but sent nothing.
    SenderHost,
    /// The capture missed segments.
    CaptureLoss,
}

/// All causes, in the order of their declaration.
pub const CAUSES: [Cause; 14] = [
    Cause::Timeout,
    Cause::LossProbe,
    Cause::TailLoss,
    Cause::LostRetransmission,
    Cause::Loss,
    Cause::Refusal,
    Cause::LostAcks,
    Cause::Delay,
    Cause::NeedlessTimeout,
    Cause::ReceiverWindow,
    Cause::CongestionWindow,
    Cause::ApplicationIdle,
    Cause::SenderHost,
    Cause::CaptureLoss,
];

/// With fewer segments outstanding, too few can follow a lost one to reveal the loss (RFC 5681 §3.2).
pub const FEW: u64 = 4;

impl Cause {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Timeout => "timeout",
            Cause::LossProbe => "loss probe",
            Cause::TailLoss => "tail loss",
            Cause::LostRetransmission => "lost retransmission",
            Cause::Loss => "loss",
            Cause::Refusal => "refusal",
            Cause::LostAcks => "lost ACKs",
            Cause::Delay => "delay",
            Cause::NeedlessTimeout => "needless timeout",
            Cause::ReceiverWindow => "receiver window",
            Cause::CongestionWindow => "congestion window",
            Cause::ApplicationIdle => "application idle",
            Cause::SenderHost => "sender host",
            Cause::CaptureLoss => "capture loss",
        }
    }
}
