/** Downloads: scenarios, traces, pictures; and the link. */

import { download, h } from "../dom";
import type { Engine } from "../engine/engine";
import type { RunTrace } from "../engine/trace";
import { button } from "./buttons";
import { notice, sheet } from "./overlay";

/** One of the runs, with its scenario as a file. */
export interface Item {
  name: string;
  run: RunTrace;
  /** Runs alone: `ackclock run` gives the same trace hash. */
  toml: string;
  csv: () => Promise<Trace>;
  parquet: () => Promise<Trace>;
}

export interface Trace {
  bytes: Uint8Array<ArrayBuffer>;
  /** Of a CSV, for `NAME.csv-metadata.json`. */
  description: string | undefined;
}

export interface Pictures {
  /** The views' names and titles. */
  views: readonly (readonly [string, string])[];
  picture: (view: string, kind: "svg" | "png") => Promise<Blob>;
}

/** A run whose traces the engine makes again on request. */
export function itemOf(engine: Engine, run: RunTrace, name: string, scenario: string, seed: number): Item {
  const asked = { scenario, seed };
  return { name, run, toml: scenario, csv: () => engine.csv(asked), parquet: () => engine.parquet(asked) };
}

/** Opens the sheet. The files' names begin with the scenario's. */
export function downloads(name: string, seed: number, items: readonly Item[], pictures: Pictures): void {
  const stem = name.replace(/[^\w]+/g, "-").toLowerCase();
  const sections = items.map((item, i) => section(stem, seed, item, i, items.length > 1));
  sheet("Download", "download-sheet", ...sections, picture(stem, pictures));
}

function section(stem: string, seed: number, item: Item, i: number, many: boolean): HTMLElement {
  const file = many ? `${stem}-${item.name.replace(/[^\w.-]+/g, "-")}` : stem;
  const toml = () => download(`${file}.toml`, item.toml, "application/toml");
  const trace = async (name: string, type: string, made: Promise<Trace>) => {
    const { bytes, description } = await made;
    download(name, new Blob([bytes], { type }));
    if (description) download(`${name}-metadata.json`, description, "application/json");
  };
  const failed = (error: Error) => notice(error.message, true);
  const csv = () => trace(`${file}.csv`, "text/csv", item.csv()).catch(failed);
  const parquet = () => trace(`${file}.parquet`, "application/vnd.apache.parquet", item.parquet()).catch(failed);
  const scenario = saving("Scenario (TOML)", toml);
  return h(
    "section",
    {},
    h("h3", {}, item.name),
    h("div", { class: "row" }, scenario, saving("Trace (CSV)", csv), saving("Trace (Parquet)", parquet)),
    h("p", { class: "hint hash" }, "Same trace hash by ", h("code", {}, `ackclock run ${file}.toml --seed ${seed}`)),
    h("p", { class: "hint" }, h("code", { "data-hash": i }, hashOf(item.run) ?? "")),
  );
}

function picture(stem: string, { views, picture }: Pictures): HTMLElement {
  const select = h("select", { "aria-label": "Graph" });
  for (const [name, called] of views) select.append(h("option", { value: name }, called));
  const save = (kind: "svg" | "png") => async () => {
    try {
      download(`${stem}-${select.value}.${kind}`, await picture(select.value, kind));
    } catch (error) {
      notice((error as Error).message, true);
    }
  };
  const row = h("div", { class: "row" }, select, saving("SVG", save("svg")), saving("PNG", save("png")));
  return h("section", {}, h("h3", {}, "Picture, as shown now"), row);
}

function saving(says: string, click: () => unknown): HTMLElement {
  return button(says, click, "download", { class: undefined });
}

interface Reported {
  runs?: readonly { trace_hash?: string }[];
}

/** The trace hash in a run's report. */
export function hashOf(run: RunTrace): string | undefined {
  return (run.summary as Reported).runs?.[0]?.trace_hash;
}
