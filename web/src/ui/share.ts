/** The link to the current page state. */
import { notice } from "./overlay";

/** Copies the address once `written` has put everything into it. */
export async function share(written: Promise<void>): Promise<void> {
  await written;
  try {
    await navigator.clipboard.writeText(location.href);
    notice("The link is copied. It holds path, stacks, seed and view.");
  } catch {
    notice("The browser does not let the page copy. The link is in the address bar.", true);
  }
}
