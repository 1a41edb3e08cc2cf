import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

type Rgb = readonly [number, number, number];

const css = readFileSync(new URL("palette.css", import.meta.url), "utf8");
const colours = new Map(
  [...css.matchAll(/--ak-(\w+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name, light, dark]) => [
    name,
    [linear(light), linear(dark)] as const,
  ]),
);

function linear(hex: string): Rgb {
  const part = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(1), part(3), part(5)];
}

function colour(name: string, theme: 0 | 1): Rgb {
  const found = colours.get(name);
  if (!found) throw new Error(`no colour ${name}`);
  return found[theme];
}

function luminance([r, g, b]: Rgb): number {
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** WCAG 2.2, contrast ratio. */
function contrast(a: Rgb, b: Rgb): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** Machado, Oliveira & Fernandes 2009, Table 1, severity 1.0: colours as dichromats see them, in linear RGB. */
const SEEN: Readonly<Record<string, readonly Rgb[]>> = {
  everyone: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopes: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopes: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopes: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** Distance in Oklab (Ottosson 2020); 0.02 is just noticeable. */
function apart(a: Rgb, b: Rgb, eye: readonly Rgb[]): number {
  const [p, q] = [a, b].map((rgb) => {
    const [r, g, bl] = eye.map((row) => Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]));
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * bl);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * bl);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * bl);
    return [
      0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
  });
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

const THEMES = [
  ["light", 0],
  ["dark", 1],
] as const;

/** Kinds that appear beside each other in one drawing and must be distinguishable. */
const TOGETHER = [
  ["first", "needed", "refused", "needless", "dsack", "sack"],
  ["needed", "refused", "needless", "dropped"],
  ["ack", "rwnd"],
  ["cwnd", "ssthresh", "pipe"],
];

test.each(THEMES)("in %s every mark contrasts with the paper, and text more strongly", (_, theme) => {
  const paper = colour("paper", theme);
  for (const name of [
    "first",
    "needed",
    "refused",
    "needless",
    "open",
    "dropped",
    "ack",
    "rwnd",
    "sack",
    "dsack",
    "cwnd",
    "pipe",
    "queue",
  ])
    expect(contrast(colour(name, theme), paper), name).toBeGreaterThanOrEqual(3);
  for (const name of ["ink", "muted"])
    for (const ground of ["paper", "disorder", "recovery", "loss"])
      expect(contrast(colour(name, theme), colour(ground, theme)), `${name} on ${ground}`).toBeGreaterThanOrEqual(4.5);
});

test.each(THEMES)("in %s the colour-blind can tell kinds apart", (_, theme) => {
  for (const kinds of TOGETHER)
    for (const a of kinds)
      for (const b of kinds) {
        if (a >= b) continue;
        for (const [who, eye] of Object.entries(SEEN))
          expect(apart(colour(a, theme), colour(b, theme), eye), `${a}, ${b} to ${who}`).toBeGreaterThan(0.07);
      }
});
