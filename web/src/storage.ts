/** Choices that the browser keeps for the next visit; where it has no storage, the page keeps them. */

const here = new Map<string, string>();

export function kept(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return here.get(key);
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    here.set(key, value);
  }
}
