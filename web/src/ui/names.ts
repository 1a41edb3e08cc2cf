/** Names for people, where the scenario's keys are too short to be read alone. */

const NAMES: Readonly<Record<string, string>> = {
  rate: "Bandwidth",
  delay: "Delay",
  queue: "Queue limit",
  limit_counts_service: "Limit counts the packet in service",
  p: "Probability",
  r: "Probability of recovery",
  only: "Sees only",
  at: "Acts at",
  per: "Counted per",
  rto: "Retransmission timer",
  detect: "Loss detection",
  disorder: "While unsure",
  recovery: "Fast recovery",
  timeout: "After a timeout",
  congestion: "Congestion control",
  startup: "Slow start",
  spurious: "Was it a mistake?",
  undo: "Undo",
  ack: "Acknowledgments",
  dup_rule: "What counts as duplicate",
  options: "TCP options",
  limits: "Limits",
  rate_mbps: "Rate",
};

/** `good_loss` as "Good loss", and what has a name of its own under that. */
export function words(key: string): string {
  const plain = NAMES[key] ?? key.replaceAll("_", " ");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

const KINDS: Readonly<Record<string, string>> = {
  swap: "Queue swaps",
  bernoulli: "Random loss",
  "gilbert-elliott": "Bursty loss (Gilbert–Elliott)",
  "delay-spike": "Delay spikes",
  outage: "Outages",
  red: "RED",
  script: "By hand (script)",
  "redrawn-delay": "Redrawn delay",
  split: "Paths side by side",
  demote: "Queue head moved back",
  netem: "netem",
  "path-trace": "Path trace",
  deliveries: "Delivery trace",
};

/** The name of an element's kind, or of another component as it is written. */
export function kind(name: string): string {
  return KINDS[name] ?? name;
}

/** What an element, an application or a source of background traffic begins with, so that the scenario still runs. */
export const STARTERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  swap: { mode: "neighbours", gap: { exponential: "500 ms" } },
  bernoulli: { p: 0.01 },
  "gilbert-elliott": { p: 0.002, r: 0.3 },
  "delay-spike": { gap: { exponential: "10 s" }, length: "500 ms" },
  outage: { gap: { exponential: "10 s" }, length: "100 ms" },
  red: { min: "5 packets", max: "15 packets" },
  script: { drop: [20] },
  "redrawn-delay": { mean: "25 ms", deviation: "8 ms", every: "250 ms" },
  split: { paths: [{ weight: 1 }, { weight: 1, delay: "40 ms" }] },
  demote: { interval: 4 },
  netem: { delay: "10 ms", jitter: "2 ms" },
  "path-trace": { data: "time_s,delay_ms\n0,0\n10,40\n20,0\n" },
  deliveries: { data: "1\n2\n4\n7\n8\n" },
  fixed: { size: "100 packets" },
  transfers: { gap: { exponential: "1 s" }, size: { exponential: "10 kB" }, stack: "reno" },
  source: { rate: "500 kbps" },
};
