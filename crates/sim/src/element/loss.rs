//! Independent loss: each packet with the same probability (Bernoulli).

use super::Fate;
use crate::rng::Stream;
use crate::watch::DropWhy;

pub(crate) struct Loss {
    p: f64,
    luck: Stream,
}

impl Loss {
    pub(crate) fn new(p: f64, luck: Stream) -> Self {
        Loss { p, luck }
    }

    /// One draw for each packet, whatever `p` is: the luck of the others stays the same when `p` changes.
    #[inline]
    pub(crate) fn judge(&mut self) -> Fate {
        if self.luck.unit() < self.p {
            Fate::Drop(DropWhy::Loss)
        } else {
            Fate::Pass
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_packet_is_lost_with_the_given_probability() {
        let lost = |p| {
            let mut l = Loss::new(p, Stream::new(1, "test"));
            (0..100_000).filter(|_| l.judge() != Fate::Pass).count()
        };
        assert_eq!((lost(0.0), lost(1.0)), (0, 100_000));
        assert!((lost(0.03) as i64 - 3_000).abs() < 200);
    }
}
