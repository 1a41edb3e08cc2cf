/** Files that come in by the menu or are dropped on the page. */
import { h } from "./dom";

/** Puts a field for files into the page that nobody sees; the answer opens it. */
export function picker(then: (file: File) => void): () => void {
  const input = h("input", {
    type: "file",
    accept: ".toml,.csv,.parquet",
    hidden: true,
    "aria-label": "Scenario or trace",
  });
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    input.value = ""; // the same file may be chosen again
    if (file) then(file);
  });
  document.body.append(input);
  return () => input.click();
}

/** Hears of files that are dropped anywhere on the page. */
export function dropped(then: (file: File) => void): void {
  let inside = 0;
  const over = (on: boolean) => document.body.classList.toggle("dropping", on);
  const carries = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  window.addEventListener("dragenter", (event) => {
    if (carries(event)) inside += 1;
    over(inside > 0);
  });
  window.addEventListener("dragleave", (event) => {
    if (carries(event)) inside -= 1;
    over(inside > 0);
  });
  window.addEventListener("dragover", (event) => event.preventDefault());
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    inside = 0;
    over(false);
    const file = event.dataTransfer?.files[0];
    if (file) then(file);
  });
}
