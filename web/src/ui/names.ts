/** Names for people, for keys of scenarios that are too short to be understood alone. */

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
  idle: "After a pause",
  options: "TCP options",
  limits: "Limits",
  rate_mbps: "Rate",
};

/** The name of a key: its own name if it has one, else `good_loss` becomes "Good loss". */
export function words(key: string): string {
  const plain = NAMES[key] ?? key.replaceAll("_", " ");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}
