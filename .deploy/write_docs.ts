/** `deno task docs`: writes the generated pages of the manual. */
import { commandsPage } from "../src/commands/reference_page.ts";
import { REFERENCE } from "../src/manual/reference/mod.ts";

/** A folder of the manual imports nothing of the command line, which stands above it. */
export const GENERATED: Readonly<Record<string, () => string>> = {
  "commands.md": commandsPage,
  ...REFERENCE,
};

if (import.meta.main) {
  for (const [file, page] of Object.entries(GENERATED)) {
    Deno.writeTextFileSync(new URL(`../src/manual/pages/reference/${file}`, import.meta.url), page());
    console.log(`wrote src/manual/pages/reference/${file}`);
  }
}
