/** Sentences about captures and the paths fitted to them. */
import { grouped, short } from "../chart/ticks";
import type { Fit, Parameter } from "../engine/capture";
import type { Captured } from "../engine/captured";

/** Captures up to this size are opened, bytes. */
export const MOST_BYTES = 200e6;

/** The reason for which a file is not opened. */
export function tooLarge(name: string, size: number): string {
  const has = `it has ${grouped(size / 1e6)} MB, and the page opens captures of up to ${grouped(MOST_BYTES / 1e6)} MB`;
  return `${name}: ${has}. The command line takes larger ones: ackclock capture ${name}`;
}

/** Above the graph of a flow. */
export function drawnFlow({ row, likely, leftOut, evidence }: Captured): string {
  const { captured, captured_why, retransmissions, flow } = row;
  const said = [`The graph shows ${flow} of the capture, captured ${captured}: ${captured_why}.`];
  if (likely) said.push(likely);
  if (leftOut > 0) said.push(`${grouped(leftOut)} later packets are not drawn, because there are too many.`);
  if (evidence.size < retransmissions)
    said.push(`Evidence is shown for the first ${grouped(evidence.size)} retransmissions.`);
  said.push("Run shows the scenario at the left again.");
  return said.join(" ");
}

/** A fitted path with its evidence. */
export function fitted({ parameters, disagreements, transfers }: Fit): string {
  const flow = transfers[0]?.flow ?? "the flow";
  const sentences = [`This path was fitted to ${flow}.`];
  const marks: readonly [Parameter["mark"], string][] = [
    ["measured", "Measured"],
    ["lower bound", "Lower bounds"],
    ["unknown", "Unknown"],
  ];
  for (const [mark, title] of marks) {
    const known = parameters.filter((p) => p.mark === mark).map(parameter);
    if (known.length > 0) sentences.push(`${title}: ${known.join(", ")}.`);
  }
  sentences.push(...disagreements.map((d) => `The flows disagree: ${d}.`));
  sentences.push("Choose another sender at the left, or add one beside it.");
  return sentences.join(" ");
}

function parameter({ name, unit, value, low, high }: Parameter): string {
  const interval = low < high ? ` (${short(low)} to ${short(high)})` : "";
  const counted = unit === "packets" && short(value) === "1" ? "packet" : unit;
  return `${name} ${short(value)}${counted ? ` ${counted}` : ""}${interval}`;
}
