/** Entry of the page. */
import { app } from "./app";
import { notice } from "./ui/overlay";

app().catch((error: Error) => notice(`The page cannot go on: ${error.message}`, true));
