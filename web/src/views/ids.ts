/** Ids for elements that name each other. */

let last = 0;

/** An id that no other element of the views has. */
export function fresh(stem: string): string {
  last += 1;
  return `ak-${stem}-${last}`;
}
