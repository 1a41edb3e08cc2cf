// Assembles the presets: the tables of web/presets/*.toml, each with its scenario's text.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "smol-toml";

// In the order of the menu.
const PAPERS = ["hoe-1995", "blanton-allman-2002", "wang-shin", "leung-ma-2005", "fukuda-2018"];

// `root` is the repository's folder. A preset's id is its file's name and its own id; reports link to it.
export function presets(root) {
  const papers = PAPERS.map((key) => ({ key, group: title(root, key), folder: join("papers", key) }));
  return [{ key: "paths", group: "Everyday paths", folder: "scenarios" }, ...papers].flatMap(({ key, group, folder }) =>
    table(root, key).map((preset) => one(root, folder, { ...preset, id: `${key}/${preset.id}`, group })),
  );
}

const table = (root, key) => parse(readFileSync(join(root, "web/presets", `${key}.toml`), "utf8")).preset;

// A paper's common name: the heading of its folder's README.
const title = (root, key) => readFileSync(join(root, "papers", key, "README.md"), "utf8").match(/^# (.*)$/m)[1];

function one(
  root,
  folder,
  { id, group, title, about, watch = about, scenario, change = {}, stacks = [{}], span = null },
) {
  const file = join(folder, scenario);
  const text = readFileSync(join(root, file), "utf8");
  const document = parse(text);
  for (const [path, value] of Object.entries(change)) put(document, path, value, id);
  const { seed, seeds } = document.run;
  return {
    id,
    group,
    title,
    about,
    watch,
    file,
    // The text with its comments, if nothing is changed.
    scenario: Object.keys(change).length > 0 ? stringify(document) : text,
    stacks: stacks.map(({ name = null, set = {} }) => ({ name, set })),
    seed: seed ?? seeds?.first ?? seeds?.[0] ?? 1,
    span,
  };
}

// A missing key is added; a place in a list must exist.
function put(document, path, value, id) {
  const way = steps(path);
  const last = way.pop();
  const at = way.reduce((value, step) => (has(value, step) ? value[step] : undefined), document);
  if (!has(at, last) && (typeof last !== "string" || typeof at !== "object" || Array.isArray(at)))
    throw new Error(`${id}: there is no ${path}; a path is written as in link[1].elements[0].mean`);
  at[last] = value;
}

const has = (value, step) => Array.isArray(value) === (typeof step === "number") && value?.[step] !== undefined;

// A path as elsewhere in Ackclock: keys joined by dots, positions in lists from 0 in brackets.
function steps(path) {
  const found = [...path.matchAll(/\.?([\w-]+)|\[(\d+)\]/g)];
  return found.map(([, key, position]) => key ?? Number(position));
}
