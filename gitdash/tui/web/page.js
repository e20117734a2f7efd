// The terminal gets the keys from the start: textual.js makes it when the page is loaded, and leaves that to a click.
addEventListener("load", () => document.querySelector(".xterm-helper-textarea")?.focus());
