/** Sentences about captures and the paths fitted to them. */
import { grouped, short } from "../chart/ticks";
import type { Captured, FileRow, Fit, Parameter } from "../engine/capture";

/** Captures up to this size are opened, bytes. */
export const MOST_BYTES = 200e6;

/** The reason for which a file is not opened. */
export function tooLarge(name: string, size: number): string {
  const has = `it has ${grouped(size / 1e6)} MB, and the page opens captures of up to ${grouped(MOST_BYTES / 1e6)} MB`;
  return `${name}: ${has}. The command line takes larger ones: ackclock capture ${name}`;
}

/** A whole file: its contents, the parts not analysed, and damage. */
export function about(file: FileRow): string[] {
  const kinds = Object.entries(file.skipped).map(([kind, { packets }]) => `${grouped(packets)} ${words(kind)}`);
  const others = kinds.length > 0 ? kinds.join(", ") : "none";
  if (file.segments === 0) return [`It contains no TCP; its packets: ${others}.`];
  const said = [`${grouped(file.packets)} packets, ${count(file.connections, "connection")}.`];
  if (kinds.length > 0) said.push(`Not analysed: ${others}.`);
  const counts: readonly [number, string][] = [
    [file.repeats, "packets were captured twice and count once"],
    [file.dropped_by_capture, "packets were dropped by the capture, according to the file"],
    [file.cut_by_limit, "connections were cut short, because too many were open at once"],
    [file.left_out, "connections with fewer bytes are left out; the command line lists them"],
    [file.options_cut, "segments have truncated options"],
    [file.mptcp_joins, "connections are parts of a Multipath TCP connection"],
  ];
  for (const [n, what] of counts) if (n > 0) said.push(`${grouped(n)} ${what}.`);
  const { count: places, first } = file.damage;
  if (places > 0) said.push(`Damaged in ${count(places, "place")}; the first is ${first}.`);
  return said;
}

/** Above the graph of a flow. */
export function drawnFlow({ row, leftOut, evidence }: Captured): string {
  const { captured, retransmissions: r, flow } = row;
  const said = [`The graph shows ${flow} of the capture, captured ${captured.at}: ${captured.why}.`];
  if (r.likely > 0) said.push(`${grouped(r.likely)} of the verdicts are likely, not certain.`);
  if (leftOut > 0) said.push(`${grouped(leftOut)} later packets are not drawn, because there are too many.`);
  if (evidence.size < r.total) said.push(`Evidence is shown for the first ${grouped(evidence.size)} retransmissions.`);
  said.push("Run shows the scenario at the left again.");
  return said.join(" ");
}

/** A fitted path with its evidence. */
export function fitted({ parameters, disagreements, transfers }: Fit): string {
  const flow = transfers[0]?.flow ?? "the flow";
  const said = [`This path was fitted to ${flow}.`];
  const marks: readonly [Parameter["mark"], string][] = [
    ["measured", "Measured"],
    ["lower bound", "Lower bounds"],
    ["unknown", "Unknown"],
  ];
  for (const [mark, title] of marks) {
    const known = parameters.filter((p) => p.mark === mark).map(parameter);
    if (known.length > 0) said.push(`${title}: ${known.join(", ")}.`);
  }
  said.push(...disagreements.map((d) => `The flows disagree: ${d}.`));
  said.push("Choose another sender at the left, or add one beside it.");
  return said.join(" ");
}

function parameter({ name, unit, value, low, high }: Parameter): string {
  const interval = low < high ? ` (${short(low)} to ${short(high)})` : "";
  const counted = unit === "packets" && short(value) === "1" ? "packet" : unit;
  return `${name} ${short(value)}${counted ? ` ${counted}` : ""}${interval}`;
}

function words(kind: string): string {
  return kind.replaceAll("_", " ");
}

function count(n: number, what: string): string {
  return `${grouped(n)} ${what}${n === 1 ? "" : "s"}`;
}
