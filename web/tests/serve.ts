/** web/dist as any web host serves it: plain files, on the loopback interface. */
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

export interface Served {
  url: string;
  close: () => Promise<void>;
}

export async function serve(folder: string): Promise<Served> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname));
    const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
    const there = statSync(file, { throwIfNoEntry: false })?.isFile();
    response.writeHead(there ? 200 : 404, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    if (there) createReadStream(file).pipe(response);
    else response.end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => new Promise((closed) => server.close(() => closed())) };
}
