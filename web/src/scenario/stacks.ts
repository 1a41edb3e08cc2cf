/** A choice of stack in the form that the engine takes. */
import type { Json } from "./toml";

/** Changed parameters as `--set` takes them; a replaced component comes before changes of its parameters. */
export function setOptions(set: { readonly [path: string]: Json }): string[] {
  const depth = (path: string) => path.split(".").length;
  const entries = Object.entries(set).sort(([a], [b]) => depth(a) - depth(b));
  return entries.map(([path, value]) => `${path}=${inline(value)}`);
}

/** A value as TOML in one line. JSON's strings are valid in TOML, except for DEL. */
function inline(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, v]) => v !== null);
    return `{ ${members.map(([k, v]) => `${JSON.stringify(k)} = ${inline(v)}`).join(", ")} }`;
  }
  return JSON.stringify(value).replaceAll("\x7f", "\\u007f");
}
