/** Explains why there is no run, and offers a remedy in one click. */
import { TooLarge } from "../engine/size";
import { button } from "./buttons";

/** A sentence, and a button that calls `last` with a duration that is short enough. */
export function failure(error: Error, last: (duration: string) => void): [string, ...HTMLElement[]] {
  if (!(error instanceof TooLarge)) return [`The run failed: ${error.message}`];
  const { message, shorter } = error;
  return [message, button(`Run ${shorter} instead`, () => last(shorter))];
}
