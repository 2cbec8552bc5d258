/** `deno task docs`: writes the generated pages of the manual. */
import { REFERENCE } from "./reference/mod.ts";

for (const [file, page] of Object.entries(REFERENCE)) {
  Deno.writeTextFileSync(new URL(`pages/reference/${file}`, import.meta.url), page());
  console.log(`wrote src/manual/pages/reference/${file}`);
}
