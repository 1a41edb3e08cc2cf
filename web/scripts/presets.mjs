// Puts the presets together: the tables of papers/*/presets.toml and scenarios/presets.toml, each with its scenario's text.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "smol-toml";

// `root` is the repository's folder. A preset's id is that of its folder and its own: what reports link to.
export function presets(root) {
  const papers = readdirSync(join(root, "papers"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const folders = papers.map(({ name }) => ({ key: name, group: title(root, name), folder: join("papers", name) }));
  folders.push({ key: "paths", group: "Everyday paths", folder: "scenarios" });
  return folders.flatMap(({ key, group, folder }) =>
    table(root, folder).map((preset) => one(root, folder, { ...preset, id: `${key}/${preset.id}`, group })),
  );
}

const table = (root, folder) => parse(readFileSync(join(root, folder, "presets.toml"), "utf8")).preset;

// A paper as one speaks of it: the first heading of its folder's README.
const title = (root, name) => readFileSync(join(root, "papers", name, "README.md"), "utf8").match(/^# (.*)$/m)[1];

function one(root, folder, { id, group, title, about, scenario, change = {}, stacks = [{}], span = null }) {
  const file = join(folder, scenario);
  const text = readFileSync(join(root, file), "utf8");
  const document = parse(text);
  for (const [path, value] of Object.entries(change)) put(document, path, value, id);
  const seeds = document.run.seeds;
  const seed = document.run.seed ?? seeds?.first ?? seeds?.[0] ?? 1;
  return {
    id,
    group,
    title,
    about,
    file,
    // With its comments, where nothing is changed.
    scenario: Object.keys(change).length > 0 ? stringify(document) : text,
    stacks: stacks.map(({ name = null, set = {} }) => ({ name, set })),
    seed,
    span,
  };
}

// A key that is not there yet is added; a place in a list must be there.
function put(document, path, value, id) {
  const steps = path.split(".");
  const last = steps.pop();
  const at = steps.reduce((value, step) => value?.[step], document);
  if (at === undefined || (Array.isArray(at) && at[last] === undefined)) throw new Error(`${id}: there is no ${path}`);
  at[last] = value;
}
