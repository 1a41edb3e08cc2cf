/** A flow of a capture as the analysis reports it. */
import type { CapturedFlow } from "./rows";

/** Facts of a flow that only a capture has. */
export interface Captured {
  /** As `flows[]` has it. */
  row: CapturedFlow;
  /** The frame of each row of `sends`, counted as in Wireshark. */
  sendFrame: Float64Array;
  /** The same of `acks`. */
  ackFrame: Float64Array;
  /** The evidence for the verdict on a retransmission, by its frame; not all of it is included. */
  evidence: ReadonlyMap<number, string>;
  /** See the answer about one flow. */
  likely: string | null;
  /** The number of segments and acknowledgments that are left out because there are too many. */
  leftOut: number;
}
