/** Checks a page packed with Snappy before it is unpacked. Source: google/snappy, format_description.txt. */

/** Bytes after a tag that describe a copy, by the tag's lowest two bits. */
const COPY_BYTES = [0, 1, 2, 4];

/** The number of bytes that the packed bytes become; NaN if they end within an element. Reads each tag once, and sets nothing aside. */
function unpacked(packed: Uint8Array): number {
  const byte = (at: number) => packed[at] as number;
  let [at, length] = [0, 0];
  // The length that the packer wrote, seven bits in each byte.
  while (byte(at) >= 128) at += 1;
  at += 1;
  while (at < packed.length) {
    const tag = byte(at);
    const kind = tag & 3;
    at += 1;
    if (kind !== 0) {
      length += kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
      at += COPY_BYTES[kind] as number;
      continue;
    }
    let literal = tag >> 2;
    if (literal >= 60) {
      const bytes = literal - 59;
      literal = 0;
      for (let k = bytes - 1; k >= 0; k--) literal = 256 * literal + byte(at + k);
      at += bytes;
    }
    at += literal + 1;
    length += literal + 1;
  }
  return at === packed.length ? length : Number.NaN;
}

/**
 * Unpacks pages with `unpack` if they become as long as their header says. hyparquet takes a literal of 2^31 bytes or more for one
 * of negative length and goes back, and it sets aside as much memory as the header names.
 */
export function unpacker(unpack: (from: Uint8Array, into: Uint8Array) => void) {
  return (packed: Uint8Array, length: number): Uint8Array => {
    const becomes = unpacked(packed);
    if (Number.isNaN(becomes)) throw new Error(`a page of ${packed.length} bytes ends within an element`);
    if (becomes !== length) throw new Error(`a page is said to have ${length} bytes, and has ${becomes}`);
    const page = new Uint8Array(length);
    unpack(packed, page);
    return page;
  };
}
