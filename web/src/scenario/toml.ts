/** Scenarios as text and as tables. The table is that of the file, so that the way there and back loses comments alone. */
import { parse, stringify, TomlError } from "smol-toml";

export type Json = string | number | boolean | null | Json[] | Table;
export type Table = { [key: string]: Json };

/** A text that is no TOML: where, and why. */
export class NotToml extends Error {
  constructor(
    /** From 1. */
    readonly line: number,
    message: string,
  ) {
    super(`line ${line}: ${message}`);
  }
}

/** Reads a scenario's text. The engine judges its meaning. */
export function fromToml(text: string): Table {
  try {
    return parse(text) as Table;
  } catch (e) {
    if (!(e instanceof TomlError)) throw e;
    const why = e.message.split("\n")[0] ?? "";
    throw new NotToml(e.line, why.replace(/^Invalid TOML document: /, ""));
  }
}

/** Writes it. A number without a fraction is written as a whole one, which the engine takes for either. */
export function toToml(scenario: Table): string {
  return `${stringify(scenario).trim()}\n`;
}
