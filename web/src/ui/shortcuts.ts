/** The page's keys and their actions. */
import { GESTURES } from "./graphs";
import type { Actions } from "./header";
import { help, type Shortcut } from "./keys";

/** The actions of keys, besides those of the header's buttons. */
interface Others {
  leave: () => void;
  /** Goes to a later or an earlier pause. */
  pause: (by: 1 | -1) => void;
  more: readonly Shortcut[];
}

/** All actions, in the order of the sheet. */
export function shortcutsOf(deeds: Omit<Actions, "help">, { leave, pause, more }: Others): Shortcut[] {
  const all: Shortcut[] = [
    { key: "r", says: "run again", do: deeds.run },
    { key: "Escape", says: "stop the run", do: leave },
    { key: "e", says: "experiments", do: deeds.presets },
    { key: ".", says: "next long pause", do: () => pause(1) },
    { key: ",", says: "the one before", do: () => pause(-1) },
    ...more,
    { key: "s", says: "copy the link", do: deeds.share },
    { key: "d", says: "download", do: deeds.download },
    { key: "o", says: "open a file", do: deeds.open },
    { key: "t", says: "dark or light", do: deeds.theme },
    { key: "?", says: "this sheet", do: () => help(all, GESTURES) },
  ];
  return all;
}
