/** Line icons on a grid of 16, drawn with the text's colour. */

const PATHS = {
  run: "M5 3.2v9.6l7.6-4.8z",
  stop: "M4.2 4.2h7.6v7.6H4.2z",
  share: "M6.5 9.5l3-3M7 4.8l1.6-1.6a2.7 2.7 0 0 1 3.9 3.9L10.8 8.7M9 11.2l-1.6 1.6a2.7 2.7 0 0 1-3.9-3.9l1.7-1.6",
  download: "M8 2.5v7.2M4.8 6.8L8 10l3.2-3.2M3 13.2h10",
  open: "M2.5 12.5v-9h4l1.5 2h5.5v7z",
  add: "M8 3.2v9.6M3.2 8h9.6",
  remove: "M4 4l8 8M12 4l-8 8",
  up: "M4 9.8L8 5.8l4 4",
  down: "M4 6.2l4 4 4-4",
  right: "M6.2 4l4 4-4 4",
  left: "M9.8 4l-4 4 4 4",
  undo: "M6 3.5L3 6.5l3 3M3.3 6.5h5.9a3.6 3.6 0 0 1 0 7.2H6.5",
  redo: "M10 3.5l3 3-3 3M12.7 6.5H6.8a3.6 3.6 0 0 0 0 7.2h2.7",
  help: "M5.9 6a2.1 2.1 0 1 1 3 1.9c-.6.3-.9.7-.9 1.4M8 11.9v.2",
  sun: "M8 5.3a2.7 2.7 0 1 1 0 5.4 2.7 2.7 0 0 1 0-5.4M8 1.6v1.3M8 13.1v1.3M1.6 8h1.3M13.1 8h1.3M3.5 3.5l.9.9M11.6 11.6l.9.9M3.5 12.5l.9-.9M11.6 4.4l.9-.9",
  moon: "M12.9 9.6A5.4 5.4 0 0 1 6.4 3.1a5.4 5.4 0 1 0 6.5 6.5z",
  panel: "M2.5 3.5h11v9h-11zM6.5 3.5v9",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  tour: "M8 14s4.4-4.2 4.4-7.4A4.4 4.4 0 0 0 8 2.2a4.4 4.4 0 0 0-4.4 4.4C3.6 9.8 8 14 8 14zM8 8.3a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4",
  more: "M3.2 7.4h1.2v1.2H3.2zM7.4 7.4h1.2v1.2H7.4zM11.6 7.4h1.2v1.2h-1.2z",
  pause: "M5.4 3.5v9M10.6 3.5v9",
  search: "M7 2.8a4.2 4.2 0 1 1 0 8.4 4.2 4.2 0 0 1 0-8.4M10.1 10.1l3.1 3.1",
  copy: "M5.5 5.5h7v7.5h-7zM3.5 10.5v-7.5h7",
} as const;

export type Icon = keyof typeof PATHS;

/** One icon, hidden from screen readers because its container has a name. */
export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
