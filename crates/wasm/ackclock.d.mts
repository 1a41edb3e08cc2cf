/** The loaded laboratory; see ackclock.mjs. */
export interface Lab {
  ask(
    request: Readonly<Record<string, unknown>>,
    progress?: (share: number) => void,
    file?: (from: number, length: number) => Uint8Array,
  ): Promise<unknown>;
  run(scenario: string, options?: { stack?: string; seed?: number | bigint }): Promise<Record<string, unknown>>;
}
export function load(source: BufferSource | WebAssembly.Module): Promise<Lab>;
