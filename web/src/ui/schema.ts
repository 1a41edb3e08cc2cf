/**
 * The JSON Schema of scenario files in the form that the editors use: a few shapes of values.
 *
 * The schema comes from the engine, so a new parameter of the engine appears on the page without a change here.
 */
import { isTable, type Json, type Table } from "./path";
import type { Dimension } from "./quantity";

/** A node of a JSON Schema. */
export type Node = { readonly [key: string]: unknown };

export interface Choice {
  value: string;
  sentence: string;
}

export interface Field {
  key: string;
  shape: Shape;
  sentence: string;
  /** The default; undefined if there is none. */
  standard: unknown;
  required: boolean;
  /** The placeholder if there is no value; "not set" by default. */
  unset?: string;
}

/** One of several tables. */
export interface Variant {
  /** The value of the key that distinguishes the tables, or the key that only this table has. */
  name: string;
  /** Its name. */
  title: string;
  /** Its initial content, with which the scenario still runs: the schema's example, without the distinguishing key. */
  starter: Table;
  sentence: string;
  fields: Field[];
}

export type Shape =
  | { type: "quantity"; dimensions: Dimension[]; words: string[]; table: Field[] | undefined }
  | { type: "number"; whole: boolean; min: number | undefined; max: number | undefined; above: number | undefined }
  | { type: "boolean" }
  | { type: "choice"; choices: Choice[] }
  | { type: "text" }
  | { type: "list"; item: Shape }
  | { type: "table"; fields: Field[] }
  /** `tag` is the key that distinguishes them; without it, each variant has a single key. */
  | { type: "variants"; tag: string | undefined; variants: Variant[] }
  | { type: "unknown" };

const DIMENSIONS: readonly string[] = ["time", "rate", "size", "packets"];

/** Derives shapes from a schema. */
export class Schema {
  constructor(private readonly root: Node) {}

  /** The shape at the definition `name`. */
  definition(name: string): Shape {
    return this.shape((this.root.$defs as Record<string, Node>)[name] ?? {});
  }

  /** One of the tables at the definition `name`, by the value of the distinguishing key. */
  variant(name: string, of: string): Variant | undefined {
    const shape = this.definition(name);
    return shape.type === "variants" ? shape.variants.find((v) => v.name === of) : undefined;
  }

  /** The slots of a stack, in the order of the schema: the parameters whose path has no dot. */
  slots(): Field[] {
    const set = (this.root.$defs as Record<string, Node>).Set ?? {};
    return this.fields(set).filter((f) => !f.key.includes(".") && f.key !== "name");
  }

  private resolve(node: Node): Node {
    if (typeof node.$ref !== "string") return node;
    const name = node.$ref.slice(node.$ref.lastIndexOf("/") + 1);
    const target = (this.root.$defs as Record<string, Node>)[name] ?? {};
    return { ...this.resolve(target), ...node, $ref: undefined };
  }

  private shape(of: Node): Shape {
    const node = this.resolve(of);
    const either = ((node.oneOf ?? node.anyOf) as Node[] | undefined)?.map((n) => this.resolve(n));
    if (node.type === "object" && node.properties && !this.isVariants(either)) {
      return { type: "table", fields: this.fields(node) };
    }
    if (either) return this.either(either);
    if (DIMENSIONS.includes(node.title as string)) return quantity([node.title as Dimension]);
    if (node.type === "integer" || node.type === "number") return number(node);
    if (node.type === "boolean") return { type: "boolean" };
    if (node.type === "array") return { type: "list", item: this.shape(node.items as Node) };
    if (node.type === "string") return { type: "text" };
    return { type: "unknown" };
  }

  private isVariants(either: Node[] | undefined): boolean {
    return either?.every((n) => n.type === "object" && n.properties !== undefined) ?? false;
  }

  private either(nodes: Node[]): Shape {
    if (nodes.every((n) => n.const !== undefined)) {
      return { type: "choice", choices: nodes.map((n) => ({ value: String(n.const), sentence: sentence(n) })) };
    }
    if (this.isVariants(nodes)) return this.variants(nodes);
    const shapes = nodes.filter((n) => n.const === undefined).map((n) => this.shape(n));
    const inner = shapes.filter((s) => s.type === "quantity");
    if (inner.length > 0) {
      const words = nodes.filter((n) => n.const !== undefined).map((n) => String(n.const));
      const table = shapes.find((s) => s.type === "table");
      return quantity(
        inner.flatMap((s) => s.dimensions),
        [...words, ...inner.flatMap((s) => s.words)],
        table?.fields,
      );
    }
    // A component may be written as its name, as a table with its kind, or as some of its keys; the table is the most explicit.
    const full = shapes.find((s) => s.type === "variants");
    return full ?? shapes.find((s) => s.type === "list") ?? shapes[0] ?? { type: "unknown" };
  }

  private variants(nodes: Node[]): Shape {
    const tag = ["kind", "ack"].find((key) =>
      nodes.every((n) => ((n.properties as Record<string, Node>)[key] as Node | undefined)?.const !== undefined),
    );
    const variants = nodes.map((n) => {
      const fields = this.fields(n);
      const constant = tag && ((n.properties as Record<string, Node>)[tag] as Node).const;
      const name = tag ? String(constant) : (fields[0]?.key ?? "");
      const title = typeof n.title === "string" ? n.title : name;
      const example = (n.examples as unknown[] | undefined)?.[0];
      const { [tag ?? ""]: _, ...starter } = isTable(example) ? example : tag ? {} : this.single(n);
      return { name, title, starter, sentence: sentence(n), fields: fields.filter((f) => f.key !== tag) };
    });
    return { type: "variants", tag, variants };
  }

  /** A table of one key with that key's example. */
  private single(node: Node): Table {
    const [entry] = Object.entries((node.properties as Record<string, Node> | undefined) ?? {});
    const examples = entry && (this.resolve(entry[1]).examples as Json[] | undefined);
    return entry && examples?.[0] !== undefined ? { [entry[0]]: examples[0] } : {};
  }

  private fields(node: Node): Field[] {
    const required = (node.required as string[] | undefined) ?? [];
    return Object.entries((node.properties as Record<string, Node> | undefined) ?? {}).map(([key, of]) => {
      const whole = this.resolve(of);
      const shape = once(() => this.shape(of));
      const about = { key, sentence: sentence(whole), standard: whole.default, required: required.includes(key) };
      // A path of a split has elements again, so shapes are derived on demand.
      return Object.defineProperty(about, "shape", { get: shape, enumerable: true }) as Field;
    });
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function quantity(dimensions: Dimension[], words: string[] = [], table?: Field[]): Shape {
  return { type: "quantity", dimensions, words, table };
}

function number(node: Node): Shape {
  return {
    type: "number",
    whole: node.type === "integer",
    min: node.minimum as number | undefined,
    max: node.maximum as number | undefined,
    above: node.exclusiveMinimum as number | undefined,
  };
}

function sentence(node: Node): string {
  return String(node.description ?? "").replaceAll("\n", " ");
}
