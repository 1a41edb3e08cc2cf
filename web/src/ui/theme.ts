/** Dark or light: the system's theme until the user chooses. */

export type Theme = "light" | "dark";

const KEY = "ackclock-theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");

function chosen(): Theme | undefined {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : undefined;
  } catch {
    return undefined; // no storage: the system's
  }
}

export function theme(): Theme {
  return chosen() ?? (dark.matches ? "dark" : "light");
}

/** Applies the theme now and whenever the system's theme changes; `then` is called with it. */
export function follow(then: (theme: Theme) => void): void {
  const apply = () => {
    document.documentElement.dataset.theme = theme();
    then(theme());
  };
  dark.addEventListener("change", apply);
  window.addEventListener("ackclock-theme", apply);
  apply();
}

export function toggle(): void {
  const next: Theme = theme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Without storage, the choice lasts as long as the page.
    document.documentElement.dataset.theme = next;
  }
  window.dispatchEvent(new Event("ackclock-theme"));
}
