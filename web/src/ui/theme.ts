/** Dark or light: the system's theme until the user chooses. */
import { keep, kept } from "../storage";

export type Theme = "light" | "dark";

const KEY = "ackclock-theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");

export function theme(): Theme {
  const chosen = kept(KEY);
  return chosen === "light" || chosen === "dark" ? chosen : dark.matches ? "dark" : "light";
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
  keep(KEY, theme() === "dark" ? "light" : "dark");
  window.dispatchEvent(new Event("ackclock-theme"));
}
