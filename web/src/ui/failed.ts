/** Why there is no run, and what can be done about it in one click. */
import { TooLarge } from "../engine/size";
import { h } from "./dom";

/** A sentence, and a button for a run that is short enough, which `last` starts. */
export function failure(error: Error, last: (duration: string) => void): [string, ...HTMLElement[]] {
  if (!(error instanceof TooLarge)) return [`The run failed: ${error.message}`];
  const { message, shorter } = error;
  const attributes = { type: "button", class: "small", onclick: () => last(shorter) };
  return [message, h("button", attributes, `Run ${shorter} instead`)];
}
