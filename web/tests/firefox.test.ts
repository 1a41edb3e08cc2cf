/**
 * The page in Firefox, through Marionette, which every Firefox has: Playwright needs commands that its extended support
 * release lacks. It needs a Firefox, which `FIREFOX` names or the path has; otherwise it is skipped with a message.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { DIST } from "./browser";
import { serve } from "./serve";

const NAMES = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((at) => ["firefox", "firefox-esr"].map((n) => join(at, n)));
const program = process.env.FIREFOX || NAMES.find((path) => existsSync(path));
if (!program) process.stderr.write("SKIPPED: the lab page in Firefox (none is installed; FIREFOX names one)\n");

/** Calls until the answer is true. */
async function until(what: string, done: () => Promise<unknown> | unknown): Promise<void> {
  for (const end = Date.now() + 50_000; Date.now() < end; await new Promise((go) => setTimeout(go, 50)))
    if (await done()) return;
  throw new Error(`Firefox: ${what}: not within 50 s`);
}

/** A headless Firefox with a profile of its own. */
class Firefox {
  private readonly waiting: ((answer: [number, number, unknown, unknown]) => void)[] = [];
  private held = Buffer.alloc(0);

  private constructor(
    private readonly process: ChildProcess,
    private readonly profile: string,
    private readonly socket: Socket,
  ) {
    socket.on("data", (bytes) => this.take(bytes));
  }

  static async launch(path: string): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), "ackclock-firefox-"));
    writeFileSync(join(profile, "user.js"), 'user_pref("marionette.port", 0);\n');
    const words = ["--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", profile];
    const child = spawn(path, words, { stdio: "ignore" });
    const port = join(profile, "MarionetteActivePort");
    await until("starts", () => existsSync(port) && readFileSync(port, "utf8") !== "");
    const fox = new Firefox(child, profile, connect(Number(readFileSync(port, "utf8")), "127.0.0.1"));
    // It says what it is before it is asked.
    await new Promise((heard) => fox.waiting.push(heard));
    await fox.call("WebDriver:NewSession", {});
    return fox;
  }

  /** A message is its length, a colon, and JSON. */
  private take(bytes: Buffer): void {
    this.held = Buffer.concat([this.held, bytes]);
    for (;;) {
      const colon = this.held.indexOf(":");
      const end = colon + 1 + Number(this.held.subarray(0, Math.max(0, colon)));
      if (colon < 0 || this.held.length < end) return;
      const message = JSON.parse(this.held.subarray(colon + 1, end).toString());
      this.held = this.held.subarray(end);
      this.waiting.shift()?.(message);
    }
  }

  async call(command: string, parameters: object): Promise<unknown> {
    const text = JSON.stringify([0, 1, command, parameters]);
    const answer = new Promise<[number, number, unknown, unknown]>((heard) => this.waiting.push(heard));
    this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    const [, , error, result] = await answer;
    if (error) throw new Error(`${command}: ${JSON.stringify(error)}`);
    return result;
  }

  /** The value of a script's `return`. */
  async run(script: string): Promise<unknown> {
    return ((await this.call("WebDriver:ExecuteScript", { script, args: [] })) as { value: unknown }).value;
  }

  async act(type: string, ...actions: object[]): Promise<void> {
    await this.call("WebDriver:PerformActions", { actions: [{ type, id: type, actions }] });
  }

  async press(value: string): Promise<void> {
    await this.act("key", { type: "keyDown", value }, { type: "keyUp", value });
  }

  /** The middle of an element, which an expression names, once it is in view. */
  async middle(element: string): Promise<{ x: number; y: number }> {
    const script = `const e = ${element}; e.scrollIntoView({ block: "center", behavior: "instant" });
      const r = e.getBoundingClientRect(); return { x: (r.x + r.width / 2) | 0, y: (r.y + r.height / 2) | 0 }`;
    return (await this.run(script)) as { x: number; y: number };
  }

  /** The errors of pages below an address. */
  async errors(url: string): Promise<unknown> {
    await this.call("Marionette:SetContext", { value: "chrome" });
    const found = await this.run(
      `return Services.console.getMessageArray().filter((m) => m instanceof Ci.nsIScriptError && !(m.flags & 1) &&
         String(m.sourceName).startsWith(${JSON.stringify(url)})).map(String)`,
    );
    await this.call("Marionette:SetContext", { value: "content" });
    return found;
  }

  async close(): Promise<void> {
    const gone = new Promise((ended) => this.process.once("exit", ended));
    this.socket.destroy();
    this.process.kill("SIGKILL");
    await gone;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

test.skipIf(!program)(
  "Firefox draws a run, by pointer and by keyboard",
  async () => {
    const served = await serve(DIST);
    const fox = await Firefox.launch(program ?? "");
    const shown = () => fox.run('return document.documentElement.dataset.lab === "shown"');
    const runs = () => fox.run("return document.documentElement.dataset.runs");
    try {
      await fox.call("WebDriver:Navigate", { url: served.url });
      await fox.run('localStorage.setItem("ackclock-visited", "yes"); location.hash = "#preset=hoe-1995/fig5-5"');
      await fox.call("WebDriver:Refresh", {});
      await until("a picture", shown);
      const panel = `document.querySelector('.ak-panel[data-view="sequence"]')`;
      await fox.act("wheel", { type: "scroll", ...(await fox.middle(panel)), deltaX: 0, deltaY: -600 });
      await fox.run(`${panel}.focus()`);
      await fox.press("n");
      await until("a tip", () => fox.run('return document.querySelector(".ak-tip:not([hidden])") !== null'));
      await fox.press("\uE007"); // Enter
      const item = `[...document.querySelectorAll('[role="menuitem"]')].find((i) => i.textContent.includes("Drop it"))`;
      await until("a menu", () => fox.run(`return ${item} !== undefined`));
      const before = await runs();
      const button = { button: 0 };
      await fox.act(
        "pointer",
        { type: "pointerMove", ...(await fox.middle(item)) },
        { type: "pointerDown", ...button },
        { type: "pointerUp", ...button },
      ); // prettier-ignore
      await until("another run", async () => (await runs()) !== before && (await shown()));
      expect(await fox.run('return document.querySelectorAll(".deed").length')).toBe(1);
      expect(await fox.errors(served.url)).toEqual([]);
      const loaded = (await fox.run('return performance.getEntriesByType("resource").map((r) => r.name)')) as string[];
      expect(loaded.filter((name) => !name.startsWith(served.url) && !/^(data|blob):/.test(name))).toEqual([]);
    } finally {
      await fox.close();
      await served.close();
    }
  },
  180_000,
);
