//! The arithmetic of the hash with vectors of 256 bits, where the processor has them.

/// Words of a stripe, and the accumulators.
pub(super) const LANES: usize = 8;

/// Adds stripes to the accumulators. The sums are the same on every processor.
#[inline(always)]
pub(super) fn accumulate(acc: &mut [u64; LANES], stripes: &[[u64; LANES]], secrets: &[[u64; LANES]]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "no safe call uses an instruction that not every processor has")]
        // SAFETY: the processor has AVX2.
        return unsafe { add_wide(acc, stripes, secrets) };
    }
    add(acc, stripes, secrets);
}

/// The same loop, compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_wide(acc: &mut [u64; LANES], stripes: &[[u64; LANES]], secrets: &[[u64; LANES]]) {
    add(acc, stripes, secrets);
}

/// The loop, for vectors of any width.
#[inline(always)]
fn add(acc: &mut [u64; LANES], stripes: &[[u64; LANES]], secrets: &[[u64; LANES]]) {
    let mut sum = *acc;
    for (words, secret) in stripes.iter().zip(secrets) {
        for i in 0..LANES {
            let key = words[i] ^ secret[i];
            let product = (key & 0xffff_ffff) * (key >> 32);
            sum[i] = sum[i].wrapping_add(product).wrapping_add(words[i ^ 1]);
        }
    }
    *acc = sum;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vectors_of_any_width_have_the_same_sums(
            mut acc in any::<[u64; LANES]>(),
            lines in prop::collection::vec(any::<([u64; LANES], [u64; LANES])>(), 0..20),
        ) {
            let (stripes, secrets): (Vec<_>, Vec<_>) = lines.into_iter().unzip();
            let mut plain = acc;
            add(&mut plain, &stripes, &secrets);
            accumulate(&mut acc, &stripes, &secrets);
            prop_assert_eq!(acc, plain);
        }
    }
}
