/**
 * Copies what the console's page uses of packages into the page's folder, as their authors publish it:
 * `deno task page-packages`. The page loads these files as they are, and the program needs the packages no more.
 */
import htm from "htm" with { type: "text" };
import preact from "preact" with { type: "text" };
import preactHooks from "preact/hooks" with { type: "text" };
import uplot from "uplot/dist/uPlot.esm.js" with { type: "text" };
import uplotStyle from "uplot/dist/uPlot.min.css" with { type: "text" };

export const PACKAGES = new URL("../src/console/page/packages/", import.meta.url);

/** By the name in that folder. */
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
