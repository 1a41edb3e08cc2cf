//! Descriptions of the elements that make a path reorder or change with time.

use ackclock_tcp::time::Nanos;

/// The link's delay is redrawn at intervals; packets that leave later may arrive earlier (Leung & Ma 2005 §IV-A).
#[derive(Clone, Debug, PartialEq)]
pub struct RedrawnDelaySpec {
    /// Mean of the normal distribution from which the delay is drawn; it comes on top of the link's own delay. Leung & Ma
    /// 2005 Table 1: 200 f ms, f from 1 to 4.
    pub mean: Nanos,
    /// Its standard deviation. Leung & Ma 2005 Table 1: 200 f / 3 ms.
    pub deviation: Nanos,
    /// Time between two draws; the first is at time 0. Leung & Ma 2005 Table 1: 50 ms or 100 ms.
    pub every: Nanos,
    /// What happens to a draw that is not above zero. Default: drawn again. Unsaid in the source.
    pub below_zero: BelowZero,
    /// Whether a packet may arrive before one that left earlier. Default: yes, as the source needs.
    pub overtaking: bool,
    /// Whose draws they are. Default: the direction's own. Unsaid in the source.
    pub draws: Draws,
}

/// What happens to a drawn delay that is not above zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BelowZero {
    /// It is drawn again.
    #[default]
    Again,
    /// It is zero.
    Zero,
}

/// Whether the two directions of a link share their luck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Draws {
    /// Each direction has draws of its own.
    #[default]
    Own,
    /// An element with the same parameters at the same place in the other direction draws the same.
    Link,
}
