/** Jobs in lanes: each lane begins the next job when its last one has ended. */

/** The number of jobs that this machine can do at once. */
export function lanesHere(): number {
  return Math.max(globalThis.navigator?.hardwareConcurrency ?? 1, 1);
}

/** Does the jobs with these numbers, in this order, in `lanes` lanes; returns their results by number. Rejects as the first job that does. */
export async function inLanes<T>(
  order: readonly number[],
  lanes: number,
  job: (nth: number) => Promise<T>,
): Promise<T[]> {
  const found: T[] = [];
  let next = 0;
  const lane = async () => {
    while (next < order.length) {
      const nth = order[next++] as number;
      found[nth] = await job(nth);
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, order.length) }, lane));
  return found;
}
