//! The order in which a system writes its options.
//!
//! Source: Linux 6.18, `net/ipv4/tcp_output.c`, `tcp_options_write`; FreeBSD 14, `sys/netinet/tcp_output.c`, `tcp_addoptions`.
//! Receivers ignore the order. Scripts that compare bytes depend on it, and so do programs that identify a system by its SYN.

use crate::options::{
    Options, SackBlocks, Timestamps, END, MSS, NOP, ROOM, SACK, SACK_PERMITTED, TIMESTAMPS, WINDOW_SCALE,
};

/// The system whose order is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// `mss 1460, sackOK, TS, nop, wscale 7`; alone, SACK permitted and timestamps have two NOPs before them.
    #[default]
    Linux,
    /// `mss 1460, nop, wscale 6, sackOK, TS`, and an end of list if the words are not full.
    FreeBsd,
}

/// A list that is being written.
struct List<'a> {
    out: &'a mut [u8; ROOM],
    len: usize,
}

impl Dialect {
    /// Writes `options` into `out` and returns their length in bytes, a multiple of four. SACK blocks that do not fit are left
    /// out (RFC 2018 §3).
    pub fn write(self, options: &Options, out: &mut [u8; ROOM]) -> usize {
        let Options { mss, window_scale, sack_permitted, timestamps, sack, malformed: _ } = options;
        let mut list = List { out, len: 0 };
        if let Some(mss) = mss {
            list.put(&[MSS, 4]);
            list.put(&mss.to_be_bytes());
        }
        match self {
            Dialect::Linux => {
                match (sack_permitted, timestamps) {
                    (true, Some(t)) => {
                        list.put(&[SACK_PERMITTED, 2]);
                        list.put_timestamps(t);
                    }
                    (false, Some(t)) => {
                        list.put(&[NOP, NOP]);
                        list.put_timestamps(t);
                    }
                    (true, None) => list.put(&[NOP, NOP, SACK_PERMITTED, 2]),
                    (false, None) => {}
                }
                if let Some(shift) = window_scale {
                    list.put(&[NOP, WINDOW_SCALE, 3, *shift]);
                }
            }
            Dialect::FreeBsd => {
                if let Some(shift) = window_scale {
                    list.put(&[NOP, WINDOW_SCALE, 3, *shift]);
                }
                if *sack_permitted {
                    list.put(&[SACK_PERMITTED, 2]);
                }
                if let Some(t) = timestamps {
                    list.align();
                    list.put_timestamps(t);
                }
            }
        }
        list.put_sack(sack);
        while !list.len.is_multiple_of(4) {
            list.put(&[END]);
        }
        list.len
    }
}

impl List<'_> {
    /// The lists that are written here fit by construction: at most 4 + 4 + 2 + 2 + 10 bytes before the SACK blocks.
    fn put(&mut self, bytes: &[u8]) {
        self.out[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn put_timestamps(&mut self, t: &Timestamps) {
        self.put(&[TIMESTAMPS, 10]);
        self.put(&t.value.to_be_bytes());
        self.put(&t.echo.to_be_bytes());
    }

    /// Aligns the 32-bit words after the option's first two bytes.
    fn align(&mut self) {
        while self.len % 4 != 2 {
            self.put(&[NOP]);
        }
    }

    fn put_sack(&mut self, blocks: &SackBlocks) {
        let blocks = blocks.as_slice();
        let room = ROOM.saturating_sub((self.len + 1) / 4 * 4 + 4) / 8;
        let n = blocks.len().min(room);
        if n == 0 {
            return;
        }
        self.align();
        self.put(&[SACK, 2 + 8 * n as u8]);
        for (left, right) in &blocks[..n] {
            self.put(&left.0.to_be_bytes());
            self.put(&right.0.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_tcp::seq::SeqNum;

    const STAMPS: Timestamps = Timestamps { value: 0x0102_0304, echo: 0x0506_0708 };

    fn written(dialect: Dialect, options: &Options) -> Vec<u8> {
        let mut out = [0xaa; ROOM];
        let len = dialect.write(options, &mut out);
        out[..len].to_vec()
    }

    #[test]
    fn a_syn_looks_as_each_system_writes_it() {
        let syn = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(STAMPS),
            ..Options::default()
        };
        let (ts, bare) = ([8, 10, 1, 2, 3, 4, 5, 6, 7, 8], Options { timestamps: None, ..syn });
        let linux = [&[2, 4, 5, 180, 4, 2][..], &ts, &[1, 3, 3, 7]].concat();
        let freebsd = [&[2, 4, 5, 180, 1, 3, 3, 7, 4, 2][..], &ts].concat();
        assert_eq!(written(Dialect::Linux, &syn), linux);
        assert_eq!(written(Dialect::FreeBsd, &syn), freebsd);
        assert_eq!(written(Dialect::Linux, &bare), [2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, 7]);
        assert_eq!(written(Dialect::FreeBsd, &bare), [2, 4, 5, 180, 1, 3, 3, 7, 4, 2, 0, 0]);
    }

    #[test]
    fn as_many_sack_blocks_as_find_room_are_written() {
        let mut sack = SackBlocks::default();
        (0..4).for_each(|i| sack.push(SeqNum(10 * i), SeqNum(10 * i + 5)));
        for dialect in [Dialect::Linux, Dialect::FreeBsd] {
            for (timestamps, n) in [(None, 4), (Some(STAMPS), 3)] {
                let list = written(dialect, &Options { sack, timestamps, ..Options::default() });
                assert_eq!(Options::read(&list).sack.as_slice(), &sack.as_slice()[..n]);
                assert_eq!(list.len(), if n == 4 { 36 } else { 40 });
            }
            // Beside all other options that there are.
            let (mss, window_scale, timestamps) = (Some(1460), Some(7), Some(STAMPS));
            let full = Options { sack, mss, window_scale, timestamps, sack_permitted: true, ..Options::default() };
            let list = written(dialect, &full);
            assert_eq!(Options::read(&list).sack.as_slice(), &sack.as_slice()[..2]);
            assert_eq!(list.len(), 40);
        }
    }
}
