/** Entry of the page. */
import { app } from "./app";
import { notice } from "./ui/overlay";

/** Reports an error that nothing else caught; the page continues. */
const said = (reason: unknown) =>
  notice(`Something went wrong in the page: ${reason instanceof Error ? reason.message : String(reason)}`, true);
window.addEventListener("error", (event) => said(event.error ?? event.message));
window.addEventListener("unhandledrejection", (event) => said(event.reason));

app().catch((error: Error) => notice(`The page cannot continue: ${error.message}`, true));
