/** Captures on the page: read in the browser, with the numbers of `ackclock capture`. */
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Found } from "../src/engine/capture";
import type { CapturedFile, CapturedFlow, CapturedStall } from "../src/engine/rows";
import { writeAsked } from "./asked";
import { afterwards, choose, command, KERNEL, open, SEQUENCE, SWAPS, settled, sharedLab, values } from "./browser";
import { writeLarge } from "./large";

const lab = sharedLab();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ackclock-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What `ackclock capture --json` says. */
function analysis(file: string, ...more: string[]): { files: [CapturedFile]; flows: Required<CapturedFlow>[] } {
  return command("capture", file, ...more);
}

/** Drops a file on the page. */
async function drop(page: Page, name: string, content: Buffer): Promise<void> {
  const carried = await page.evaluateHandle(
    ([called, base64]) => {
      const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], called));
      return transfer;
    },
    [name, content.toString("base64")] as const,
  );
  await page.dispatchEvent("main", "drop", { dataTransfer: carried });
}

/** The cells of the flows' table, row by row. */
function rows(page: Page): Promise<string[][]> {
  const all = page.locator(".flow-table tbody tr");
  return all.evaluateAll((trs) => trs.map((tr) => Array.from(tr.children, (cell) => cell.textContent ?? "")));
}

/** The number of the graph's pixels with the colour of a legend's entry, and the position of the middle pixel, px. */
function found(page: Page, colour: string): Promise<{ many: number; x: number; y: number }> {
  return page
    .locator(`${SEQUENCE} canvas`)
    .first()
    .evaluate((element, name) => {
      const canvas = element as HTMLCanvasElement;
      const probe = document.createElement("span");
      probe.style.color = `var(--ak-${name})`;
      document.body.append(probe);
      const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g)?.map(Number) ?? [];
      probe.remove();
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
      copy?.drawImage(canvas, 0, 0);
      const { data } = copy?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
      const all: number[] = [];
      for (let i = 0; i < data.length; i += 4)
        if (data[i] === r && data[i + 1] === g && data[i + 2] === b) all.push(i / 4);
      const middle = all[all.length >> 1] ?? 0;
      const size = canvas.clientWidth / canvas.width;
      const [column, line] = [middle % canvas.width, Math.floor(middle / canvas.width)];
      return { many: all.length, x: column * size, y: line * size };
    }, colour);
}

async function pixels(page: Page, colour: string): Promise<number> {
  return (await found(page, colour)).many;
}

async function drawn(page: Page): Promise<void> {
  await settled(page);
  await page.locator(SEQUENCE).first().scrollIntoViewIfNeeded();
  await page.evaluate(async () => {
    for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame);
  });
}

/** The packets of pcapng files, in the order of their times, in one file with the interfaces of all of them. */
function inOneFile(files: readonly Buffer[]): Buffer {
  const interfaces: Buffer[] = [];
  const packets: { at: bigint; block: Buffer }[] = [];
  let section: Buffer | undefined;
  for (const file of files) {
    const before = interfaces.length;
    for (let at = 0; at < file.length; at += file.readUInt32LE(at + 4)) {
      const block = Buffer.from(file.subarray(at, at + file.readUInt32LE(at + 4)));
      const kind = block.readUInt32LE(0);
      if (kind === 1) interfaces.push(block);
      else if (kind === 6) {
        block.writeUInt32LE(block.readUInt32LE(8) + before, 8);
        packets.push({ at: (BigInt(block.readUInt32LE(12)) << 32n) | BigInt(block.readUInt32LE(16)), block });
      } else section ??= block;
    }
  }
  packets.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return Buffer.concat([section ?? Buffer.alloc(0), ...interfaces, ...packets.map(({ block }) => block)]);
}

const KINDS = ["needed", "needless", "refused", "undecided"] as const;
const plain = (text: string | null) => (text ?? "").replaceAll(/[\u2009\u202f]/g, "");

test("a capture that is dropped on the page has the flows, verdicts and stalls of `ackclock capture`, and nobody is asked", async () => {
  const { page, wrong } = await open(lab);
  for (const name of [
    "cubic-loss-3-jitter-sender",
    "cubic-swap12-no-sack-receiver",
    "cubic-swap12-loss-1-no-dsack-sender",
    "cubic-two-paths-receiver",
  ]) {
    const file = join(KERNEL, `${name}.pcapng.gz`);
    const { flows } = analysis(file);
    await afterwards(page, () => drop(page, basename(file), readFileSync(file)));
    const expected = flows
      .toSorted((a, b) => b.bytes - a.bytes)
      .map((flow) => [
        flow.flow,
        String(flow.retransmissions),
        ...KINDS.map((kind) => String(flow[`${kind}_retransmissions`])),
        flow.captured,
      ]);
    const shown = (await rows(page)).map((cells) =>
      [cells[0], ...cells.slice(4, 9), cells.at(-1)].map((c) => plain(c ?? "")),
    );
    expect(shown, name).toEqual(expected);
    const [main] = flows.toSorted((a, b) => b.bytes - a.bytes);
    for (const key of KINDS) {
      const shownOf = await values(page, `${key} retransmissions`);
      expect(shownOf, `${name}: ${key}`).toEqual([main?.[`${key}_retransmissions`]]);
    }
    const many = main?.each_stall.length ?? 0;
    const message = many === 0 ? "No long pause" : many === 1 ? "1 long pause" : `${many} long pauses`;
    await expect.poll(() => page.locator(".stall .hint").textContent()).toBe(message);
    if (many > 0) {
      await page.keyboard.press(".");
      const longest = main?.each_stall.find((stall) => stall.duration_s === main.longest_stall_s) as CapturedStall;
      expect(await page.locator(".stall > p strong").textContent()).toContain(longest.cause);
      const reported = await page.locator(".stall ol").textContent();
      expect(reported).toContain(longest.evidence.slice(1));
      expect(reported).toContain(`Frame ${longest.frame_after} ended it.`);
    }
  }
  expect(wrong).toEqual([]);
});

test("the sentences, the shares of time and the time of client, network and server are those of the command", async () => {
  const { page, wrong } = await open(lab);
  const file = join(folder, "asked.pcap");
  writeAsked(file);
  await choose(page, file);
  const { answers, flows, connections } = command<Found>("capture", file);
  const told = (await page.locator(".capture .answers li").allTextContents()).map(plain);
  expect(told).toEqual(answers);
  const main = flows.filter((flow) => flow.main);
  expect(main.length).toBe(1);
  const times = page.locator(".capture .times");
  const shown = async (nth: number) => (await times.nth(nth).locator("li").allTextContents()).map(plain);
  const [own] = main;
  const shares = Object.entries(own?.time_by_cause_s ?? {}).toSorted((a, b) => b[1] - a[1]);
  const lines = await shown(0);
  const [cause, seconds] = shares[0] as [string, number];
  expect(lines[0]).toContain(`${cause} ${seconds.toPrecision(3)} s, `);
  const sum = lines.reduce((all, line) => all + Number(line.match(/(\d+) %$/)?.[1] ?? 0), 0);
  expect(Math.abs(sum - 100)).toBeLessThanOrEqual(2);
  const [one] = connections;
  if (!one || one.server_s === null || one.network_s === null) throw new Error("nothing was asked");
  await page.getByText("Client, network, server").click();
  expect(await shown(1)).toEqual([
    `client ${one.client_s} s, 63 %`,
    `server ${one.server_s.toPrecision(3)} s, 35 %`,
    `network ${(one.network_s * 1e3).toFixed(0)} ms, 2 %`,
  ]);
  const cells = await page.getByRole("region", { name: "Requests and answers" }).locator("tbody td").allTextContents();
  expect(cells.map(plain)).toContain(one.server_s.toFixed(3));
  expect(wrong).toEqual([]);
});

test("a file that holds both ends is recognised as such, and drawn with the verdicts of both", async () => {
  const { page, wrong } = await open(lab);
  const ends = ["sender", "receiver"].map((side) => join(KERNEL, `cubic-swap12-loss-1-${side}.pcapng.gz`));
  const file = join(folder, "both.pcapng");
  writeFileSync(file, inOneFile(ends.map((end) => gunzipSync(readFileSync(end)))));
  await choose(page, file);
  const { flows, remarks } = command<Found>("capture", file);
  expect(remarks[0]).toMatch(/ holds both ends of its connections, at interface 0 .* and interface 1 /);
  const message = plain(await page.locator(".capture .about").textContent());
  expect(message).toContain((remarks[0] ?? "").replace(file, "both.pcapng"));
  expect((await rows(page)).map((cells) => cells.at(-1))).toEqual(flows.map(() => "at both ends"));
  const [main] = flows.filter((flow) => flow.main);
  for (const key of KINDS)
    expect(await values(page, `${key} retransmissions`), key).toEqual([main?.[`${key}_retransmissions`]]);
  expect(main?.needless_retransmissions).toBeGreaterThan(50);
  await afterwards(page, () => page.getByRole("button", { name: "Try another sender" }).click());
  await expect.poll(() => page.locator(".note").textContent()).toMatch(/^This path was fitted to /);
  expect(wrong).toEqual([]);
});

test.each(["light", "dark"] as const)(
  "each verdict has its colour in the graph and its switch, %s",
  async (colorScheme) => {
    const { page, wrong } = await open(lab, "", { colorScheme });
    await choose(page, SWAPS);
    await drawn(page);
    for (const [colour, label] of [
      ["needed", "retransmission, needed"],
      ["needless", "retransmission, needless"],
      ["first", "first transmission"],
    ] as const) {
      expect(await pixels(page, colour), colour).toBeGreaterThan(20);
      const button = page.getByRole("button", { name: label, exact: true });
      await button.click();
      await drawn(page);
      expect(await pixels(page, colour), colour).toBe(0);
      await button.click();
      await drawn(page);
    }
    expect(wrong).toEqual([]);
  },
);

test("pointing at a retransmission tells its verdict and the evidence with the frame", async () => {
  const { page, wrong } = await open(lab);
  await choose(page, SWAPS);
  const [first] = analysis(SWAPS).flows[0]?.each_retransmission ?? [];
  if (!first) throw new Error("nothing was sent again");
  await page.locator(SEQUENCE).focus();
  await page.locator(SEQUENCE).evaluate(async (panel) => {
    for (let i = 0; i < 5000 && !document.querySelector(".ak-tip em"); i++)
      panel.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true, cancelable: true }));
  });
  expect(plain(await page.locator(".ak-tip strong").textContent())).toBe(`Frame ${first.frame}, sent again`);
  const words = `${first.likely ? "likely " : ""}${first.verdict}: ${first.evidence}`;
  expect(await page.locator(".ak-tip em").textContent()).toBe(words);
  expect(wrong).toEqual([]);
});

test("a tap on a retransmission tells its verdict, and it stays told", async () => {
  const { page, wrong } = await open(lab, "", {
    hasTouch: true,
    isMobile: true,
    viewport: { width: 390, height: 844 },
  });
  await choose(page, SWAPS);
  await drawn(page);
  const panel = page.locator(SEQUENCE).first();
  await panel.scrollIntoViewIfNeeded();
  const place = await found(page, "needless");
  const box = await panel.boundingBox();
  if (!box || place.many === 0) throw new Error("no graph");
  await page.touchscreen.tap(box.x + place.x, box.y + place.y);
  await page.waitForTimeout(200);
  expect(await page.locator(".ak-tip").isVisible()).toBe(true);
  expect(await page.locator(".ak-tip em").textContent()).toMatch(/^(likely )?(needless|needed): /);
  expect(wrong).toEqual([]);
});

test("another place of the capture may be chosen, as with --at", async () => {
  const { page } = await open(lab);
  await choose(page, SWAPS);
  await afterwards(page, () => page.getByLabel("Where it was captured").selectOption("middle"));
  const counts = analysis(SWAPS, "--at", "middle").flows.map((flow) => String(flow.undecided_retransmissions));
  expect((await rows(page)).map((cells) => cells[8])).toEqual(counts);
  expect((await rows(page))[0]?.at(-1)).toBe("on the way");
});

test("another sender is tried on the path that explains the capture", async () => {
  const { page, wrong } = await open(lab);
  await choose(page, SWAPS);
  await afterwards(page, () => page.getByRole("button", { name: "Try another sender" }).click());
  const note = page.locator(".note");
  await expect.poll(() => note.textContent()).toMatch(/^This path was fitted to .* > .*\. Measured: .*rate .* Mb\/s/);
  expect(await note.textContent()).toContain("Choose another sender at the left");
  const goodput = () => page.locator(".ak-table td").nth(1).getAttribute("data-value");
  const before = Number(await goodput());
  expect(before).toBeGreaterThan(0);
  await afterwards(page, () => page.locator(".stack select").first().selectOption("reno"));
  expect(Number(await goodput())).not.toBe(before);
  // The way back to the capture.
  await afterwards(page, () => page.locator(".flow-table tbody button").first().click());
  expect(await note.textContent()).toContain("captured at the sender");
  expect(wrong).toEqual([]);
});

test("a capture to which no path can be fitted says why", async () => {
  const { page } = await open(lab);
  await choose(page, join(KERNEL, "cubic-swap12-receiver.pcapng.gz"));
  await page.getByRole("button", { name: "Try another sender" }).click();
  await expect
    .poll(() => page.locator(".note.bad").textContent())
    .toMatch(/^No path can be fitted\. .*a capture at the receiver/);
});

test("what is no capture, damaged, without TCP or too large gives one sentence, and the page stays as it was", async () => {
  const { page, wrong } = await open(lab);
  const before = await page.title();
  const bad = page.locator(".notice.bad p");
  const refused = async (name: string, content: Buffer | string) => {
    const file = join(folder, name);
    writeFileSync(file, content);
    await page.locator("input[type=file]").setInputFiles(file);
    await expect.poll(() => bad.textContent()).toContain(name);
    return bad.textContent();
  };
  expect(await refused("text.pcap", "this is no capture at all, whatever it is called")).toBe(
    "text.pcap: at byte 0: it begins with 74 68 69 73, which is neither pcap, pcapng, snoop nor ERF, plain or compressed with gzip, zstd or lz4",
  );
  const head = Buffer.from("d4c3b2a1020004000000000000000000ffff000001000000", "hex");
  const record = Buffer.from("00000000000000003c0000003c000000", "hex");
  expect(await refused("cut.pcap", Buffer.concat([head, record]))).toBe(
    "cut.pcap: no packet can be read: packet 1 at byte 24: the file ends after 16 of 76 bytes",
  );
  expect(
    await refused("packed.pcap.xz", Buffer.from("fd377a585a0000000000000000000000000000000000000000", "hex")),
  ).toBe("packed.pcap.xz: it is compressed with xz; decompress it first");
  const large = join(folder, "large.pcap");
  writeFileSync(large, head);
  truncateSync(large, 200_000_001 + 1e6);
  await page.locator("input[type=file]").setInputFiles(large);
  await expect.poll(() => bad.textContent()).toContain("large.pcap");
  expect(plain(await bad.textContent())).toBe(
    "large.pcap: it has 201 MB, and the page opens captures of up to 200 MB. The command line takes larger ones: ackclock capture large.pcap",
  );
  expect(await page.locator(".capture").isHidden()).toBe(true);
  expect(await page.title()).toBe(before);
  // A single frame of ARP.
  const arp = Buffer.alloc(60);
  arp.writeUInt16BE(0x0806, 12);
  await drop(page, "arp.pcap", Buffer.concat([head, record, arp]));
  await expect
    .poll(() => page.locator(".capture .about").textContent())
    .toBe("1 packet, no TCP. Packets not analysed: ARP (1).");
  expect(wrong).toEqual([]);
});

test("damage within a capture is told with packet and byte, and what can be read is shown", async () => {
  const { page } = await open(lab);
  const file = join(folder, "broken.pcap");
  writeLarge(file, 200_000);
  const bytes = readFileSync(file);
  truncateSync(file, bytes.length - 50);
  await choose(page, file);
  const { files } = analysis(file);
  expect(plain(await page.locator(".capture .about").textContent())).toContain(
    `Damaged in 1 place; the first is ${files[0].first_damage}.`,
  );
  expect(await rows(page)).toHaveLength(1);
});

test("a large capture is read piece by piece beside the page, which stays responsive", async () => {
  const { page, wrong } = await open(lab);
  const file = join(folder, "twenty.pcap");
  const { packets, needless } = writeLarge(file, 20e6);
  await page.evaluate(() => {
    const { dataset } = document.documentElement;
    let last = performance.now();
    let longest = 0;
    const shares = new Set<string>();
    window.setInterval(() => {
      const now = performance.now();
      // Only the time while the file is read counts.
      if (dataset.lab === "running") {
        longest = Math.max(longest, now - last);
        shares.add(document.querySelector(".progress")?.getAttribute("aria-valuenow") ?? "");
      }
      last = now;
      dataset.longest = String(longest);
      dataset.shares = String(shares.size);
    }, 5);
  });
  await choose(page, file);
  const message = plain(await page.locator(".capture .about").textContent());
  expect(message).toContain(`${packets.toLocaleString("en")} packets, 1 connection`);
  const [cells] = await rows(page);
  expect(cells?.slice(4, 7).map(plain)).toEqual([String(needless), "0", String(needless)]);
  const { longest, shares } = await page.evaluate(() => ({ ...document.documentElement.dataset }));
  expect(Number(longest)).toBeLessThan(1000);
  expect(Number(shares)).toBeGreaterThan(2);
  expect(wrong).toEqual([]);
});

test("reading a capture can be stopped at once", async () => {
  const { page, wrong } = await open(lab);
  const file = join(folder, "stopped.pcap");
  writeLarge(file, 100e6);
  await page.locator("input[type=file]").setInputFiles(file);
  await page.waitForFunction(() => document.querySelector(".note")?.textContent?.startsWith("Reading"));
  await page.keyboard.press("Escape");
  await page.waitForSelector("html[data-lab=idle]");
  expect(await page.locator(".note").isHidden()).toBe(true);
  expect(await page.locator(".capture").isHidden()).toBe(true);
  await afterwards(page, () => page.keyboard.press("r"));
  expect(wrong).toEqual([]);
});
