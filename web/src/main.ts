/** Entry of the page. */
const app = document.querySelector<HTMLElement>("#app");
if (app) app.textContent = "Ackclock lab";
