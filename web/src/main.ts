/** Entry of the page. */
import { app } from "./app";
import { notice } from "./ui/overlay";

/** Reports an error that nothing else caught; the page continues. */
const report = (reason: unknown) =>
  notice(`Something went wrong in the page: ${reason instanceof Error ? reason.message : String(reason)}`, true);
window.addEventListener("error", (event) => report(event.error ?? event.message));
window.addEventListener("unhandledrejection", (event) => report(event.reason));

app().catch((error: Error) => notice(`The page cannot continue: ${error.message}`, true));
