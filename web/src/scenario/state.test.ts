import { expect, test } from "vitest";
import { decode, encode, type State } from "./state";

const STATE: State = {
  scenario: {
    name: "path «ü»",
    run: { duration: "60 s" },
    link: [{ from: "A", to: "B", rate: "5 Mbps", delay: "1 ms" }],
  },
  stacks: [
    { name: "rfc-6675", set: { "rto.min": "200 ms" } },
    { name: null, set: {} },
  ],
  other: { run: { duration: "60 s" } },
  seed: 7,
  view: { from: 1.5, to: 2, flow: 3 },
  preset: "hoe-1995/fig5-7",
  marks: [{ time: 1.5, note: "the first loss" }],
};

test("a state survives the way through a fragment", async () => {
  const fragment = await encode(STATE);
  expect(fragment).toMatch(/^lab=1\.[\w-]+$/);
  expect(await decode(`#${fragment}`)).toEqual({ what: "state", state: STATE });
});

test("a fragment that `ackclock lab` made is read", async () => {
  const made =
    "lab=1.q1YqTk7NSyzKzFeyqlbKS8xNVbJSqlDSUSoqzQOJpJQWJZZk5gPZSoYKxUDx4tTUFCUrk9paILMkMTm7WMkqGqYxrzQnB6SiBKiztjYWoRgA";
  const scenario = { name: "x", run: { duration: "1 s", seed: 4 } };
  const state = { scenario, stacks: [{ name: null, set: {} }], seed: 4 };
  expect(await decode(made)).toEqual({ what: "state", state });
});

test("a preset is asked for by its id", async () => {
  expect(await decode("#preset=hoe-1995/fig5-7")).toEqual({ what: "preset", id: "hoe-1995/fig5-7" });
  expect(await decode("preset=a%2Fb")).toEqual({ what: "preset", id: "a/b" });
  expect(await decode("preset=%")).toEqual({ what: "preset", id: "%" });
});

test("an empty fragment opens nothing", async () => {
  expect(await decode("")).toEqual({ what: "nothing" });
  expect(await decode("#")).toEqual({ what: "nothing" });
});

async function raw(json: string): Promise<string> {
  const packed = new Blob([json]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return `lab=1.${Buffer.from(await new Response(packed).arrayBuffer()).toString("base64url")}`;
}

test("a bad fragment gives a message, whatever it is", async () => {
  const good = await encode(STATE);
  const cases: [string, string][] = [
    ["#what", "nothing that this page knows"],
    ["#lab=", "nothing that this page knows"],
    ["#lab=1", "cut off or damaged"],
    ["#lab=1.*", "cut off or damaged"],
    [good.slice(0, -9), "cut off or damaged"],
    [good.replace("lab=1", "lab=2"), "another version of this page (2, not 1)"],
    [await raw("[]"), "holds no state"],
    [await raw("{}"), "holds no scenario"],
    [await raw(JSON.stringify({ ...STATE, stacks: [] })), "does not have 1 to 4 stacks"],
    [await raw(JSON.stringify({ ...STATE, stacks: [{ name: 1, set: {} }] })), "one of its stacks"],
    [await raw(JSON.stringify({ ...STATE, seed: -1 })), "its seed"],
    [
      await raw(JSON.stringify({ ...STATE, scenario: { link: [{ rate: null }] } })),
      "no value at `link[0].rate` (found null)",
    ],
    [await raw(JSON.stringify({ ...STATE, stacks: [{ name: null, set: { rto: null } }] })), "no value at `rto`"],
    [await raw(`{"scenario": {"a": ${"[".repeat(99)}${"]".repeat(99)}}, "stacks": [], "seed": 1}`), "32 levels"],
    [await raw(JSON.stringify({ ...STATE, other: 5 })), "its second path"],
    [await raw(JSON.stringify({ ...STATE, marks: [{ time: "1" }] })), "its marks"],
    [await raw(`"${"0".repeat(17 << 20)}"`), "cut off or damaged"],
  ];
  for (const [fragment, why] of cases) {
    const asked = await decode(fragment);
    expect(asked.what, fragment.slice(0, 40)).toBe("bad");
    expect(asked.what === "bad" && asked.message).toContain(why);
  }
});

test("no fragment makes the reader throw", async () => {
  const good = await encode(STATE);
  for (let i = 0; i < good.length; i += 1) {
    await decode(good.slice(0, i));
    await decode(`${good.slice(0, i)}A${good.slice(i + 1)}`);
  }
});
