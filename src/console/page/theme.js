/** Light, dark, or as the system has it: an attribute of the document, which the style's colours follow. */
import { html, useEffect } from "./lib/html.js";
import { useStored } from "./lib/hooks.js";

/** @typedef {"system" | "light" | "dark"} Theme */

/** @type {readonly (readonly [Theme, string, string])[]} */
const THEMES = [
  ["system", "As the system", "M3 5h14v9H3zM8 17h4"],
  [
    "light",
    "Light",
    "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.5 4.5l1 1M14.5 14.5l1 1M4.5 15.5l1-1M14.5 5.5l1-1",
  ],
  ["dark", "Dark", "M16 11.5A6.5 6.5 0 0 1 8.5 4a6.5 6.5 0 1 0 7.5 7.5z"],
];

export function ThemeSwitch() {
  const [theme, setTheme] = useStored("theme", /** @type {Theme} */ ("system"));
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
  return html`<div class="choice themes" role="group" aria-label="Colours">${
    THEMES.map(([name, label, drawing]) =>
      html`
        <button key=${name} type="button" aria-pressed=${name === theme} aria-label=${label} title=${label}
          onClick=${() => setTheme(name)}><${Icon} drawing=${drawing} /></button>
      `
    )
  }</div>`;
}

/** @param {{ drawing: string }} props */
export function Icon({ drawing }) {
  return html`
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d=${drawing} />
    </svg>
  `;
}
