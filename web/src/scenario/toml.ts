/** Scenarios as text and as tables. The table has the file's structure, so a conversion there and back loses only comments. */
import { parse, stringify, TomlError } from "smol-toml";

export type Json = string | number | boolean | null | Json[] | Table;
export type Table = { [key: string]: Json };

/** A text that is not TOML: the place and the reason. */
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

/** Writes it. A number without a fraction is written as an integer, which the engine accepts for both types. */
export function toToml(scenario: Table): string {
  return `${stringify(scenario).trim()}\n`;
}
