/** Files that are opened by the menu or dropped on the page. */
import { h } from "../dom";

/** Adds a hidden file input to the page. Returns a function that opens it. */
export function picker(then: (file: File) => void): () => void {
  const input = h("input", {
    type: "file",
    accept: ".toml,.csv,.parquet,.pcap,.pcapng,.cap,.snoop,.erf,.gz,.zst,.lz4",
    hidden: true,
    "aria-label": "Scenario, trace or capture",
  });
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    input.value = ""; // the same file may be chosen again
    if (file) then(file);
  });
  document.body.append(input);
  return () => input.click();
}

/** The first bytes of captures: pcapng, pcap in both byte orders and with both units of time, snoop, and compressed files. */
const CAPTURES = /^(0a0d0d0a|d4c3b2a1|a1b2c3d4|4d3cb2a1|a1b23c4d|34cdb2a1|a1b2cd34|736e6f6f|1f8b|28b52ffd|04224d18)/;
/** A file with this name is treated as a capture, whatever its first bytes are. */
const CALLED = /\.(pcap|pcapng|cap|snoop|erf)(\.(gz|zst|lz4|xz|bz2|zip))?$/i;

export type Kind = "capture" | "parquet" | "csv" | "scenario";

/** The kind of a file, from its first bytes and its name. */
export async function kindOf(file: File): Promise<Kind> {
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const begins = Array.from(head, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (CAPTURES.test(begins) || CALLED.test(file.name)) return "capture";
  if (file.name.endsWith(".parquet")) return "parquet";
  return file.name.endsWith(".csv") ? "csv" : "scenario";
}

/** Largest scenario, bytes: its whole form is drawn. */
const MOST_SCENARIO_BYTES = 4e6;

/** The text of a scenario's file; rejects if it is none. */
export async function textOf(file: File): Promise<string> {
  if (file.size > MOST_SCENARIO_BYTES) {
    throw new Error(
      `found ${(file.size / 1e6).toFixed(1)} MB, allowed: scenarios up to ${MOST_SCENARIO_BYTES / 1e6} MB`,
    );
  }
  return file.text();
}

/** Calls `then` for files that are dropped anywhere on the page. */
export function dropped(then: (file: File) => void): void {
  let inside = 0;
  const over = (on: boolean) => document.body.classList.toggle("dropping", on);
  const carries = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  window.addEventListener("dragenter", (event) => {
    if (carries(event)) inside += 1;
    over(inside > 0);
  });
  window.addEventListener("dragleave", (event) => {
    if (carries(event)) inside -= 1;
    over(inside > 0);
  });
  window.addEventListener("dragover", (event) => event.preventDefault());
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    inside = 0;
    over(false);
    const file = event.dataTransfer?.files[0];
    if (file) then(file);
  });
}
