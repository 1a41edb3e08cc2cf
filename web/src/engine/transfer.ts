/** Answers that move from a worker to the page. */

/** The memory of all columns in an answer, which is moved and not copied; each once, though several columns may share it. */
export function columnsOf(answer: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const seek = (value: unknown) => {
    if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(seek);
  };
  seek(answer);
  return [...found];
}
