/** Entry of the page. */
import { app } from "./app";

void app();
