/**
 * Copies the parts of packages that the console's page uses into the page's folder, unchanged: `deno task
 * page-packages`. The page loads these files, so the program does not need the packages.
 */
import htm from "htm" with { type: "text" };
import preact from "preact" with { type: "text" };
import preactHooks from "preact/hooks" with { type: "text" };
import uplot from "uplot/dist/uPlot.esm.js" with { type: "text" };
import uplotStyle from "uplot/dist/uPlot.min.css" with { type: "text" };

export const PACKAGES = new URL("../src/console/page/packages/", import.meta.url);

/** By their name in that folder. */
export const COPIES: Readonly<Record<string, string>> = {
  "htm.js": htm,
  "preact.js": preact,
  "preact-hooks.js": preactHooks,
  "uplot.js": uplot,
  "uplot.css": uplotStyle,
};

if (import.meta.main) {
  for (const [name, text] of Object.entries(COPIES)) await Deno.writeTextFile(new URL(name, PACKAGES), text);
}
