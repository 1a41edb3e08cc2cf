//! The causes of stalls. A run and a capture name the same causes; some only one of the two can tell.

/// The causes, each with its name in tables.
macro_rules! causes {
    ($($(#[$meaning:meta])* $cause:ident $name:literal,)*) => {
        /// Why a transfer stood still.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cause {
            $($(#[$meaning])* $cause,)*
        }

        /// All causes, in the order of their declaration.
        pub const CAUSES: &[Cause] = &[$(Cause::$cause),*];

        impl Cause {
            /// Its name in tables.
            pub fn name(self) -> &'static str {
                match self {
                    $(Cause::$cause => $name,)*
                }
            }
        }
    };
}

causes! {
    /// A segment was lost, and the retransmission timer had to send it again.
    Timeout "timeout",
    /// In a run: a segment was lost, and a tail loss probe found or repaired the loss (RFC 8985 §7). In a capture: after a
    /// silence of the network, with data outstanding, new data was sent, as a probe may.
    LossProbe "loss probe",
    /// The end of the data was lost, so that no later data could reveal the loss, and the timer had to.
    TailLoss "tail loss",
    /// A segment and its retransmission were lost.
    LostRetransmission "lost retransmission",
    /// A segment was lost and sent again after duplicate ACKs, or was never sent again.
    Loss "loss",
    /// The receiver threw a segment away.
    Refusal "refusal",
    /// A segment arrived, and its ACKs were lost.
    LostAcks "lost ACKs",
    /// A segment or its ACK was late.
    Delay "delay",
    /// A segment or its ACK was late, and the retransmission timer fired although nothing was lost.
    NeedlessTimeout "needless timeout",
    /// The receiver's window was closed, or full.
    ReceiverWindow "receiver window",
    /// The outstanding data filled the congestion window: the next segment waited for an ACK.
    CongestionWindow "congestion window",
    /// A segment smaller than a full one was outstanding, and the next waited for its ACK (RFC 896; RFC 1122 §4.2.3.4), which the
    /// receiver may delay (§4.2.3.2).
    Nagle "Nagle",
    /// A segment was sent again after duplicate ACKs.
    FastRetransmit "fast retransmit",
    /// Until everything outstanding at the first retransmission was acknowledged, the next segment waited for an ACK (RFC 6675 §5,
    /// RecoveryPoint).
    Recovery "recovery",
    /// As `CongestionWindow`, and since a retransmission the transfer has carried less in a round trip than before it.
    ReducedWindow "reduced window",
    /// As the causes of a loss, in a transfer whose losses are a policer's (Flach and others 2016 §3).
    Policer "policer",
    /// Nothing came back although many segments were outstanding and a timer sent again and again; later the other end was heard.
    Outage "outage",
    /// Captured where the data arrives: data took no longer than an ACK to its sender and the way back.
    Network "network",
    /// The other end sent nothing more, although segments were sent again and again.
    PeerGone "peer gone",
    /// Segments of the largest size were sent again and again, and none was ever acknowledged; smaller ones were (RFC 2923 §2.1).
    MtuHole "MTU hole",
    /// Everything that had been written was sent.
    ApplicationIdle "application idle",
    /// Its sender had room and data, but sent nothing.
    SenderHost "sender host",
    /// The capture missed segments.
    CaptureLoss "capture loss",
    /// The capture does not show it.
    Unknown "unknown",
}

/// With fewer segments outstanding, too few can follow a lost one to reveal the loss (RFC 5681 §3.2).
pub const FEW: u64 = 4;
