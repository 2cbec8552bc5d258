/** Writes a dump of so many lines, which cannot be compressed, to the file that is given, and says how it went. */
import { writeDump } from "../../src/store/care/dump_file.ts";

const [path, count] = Deno.args;

async function* lines(): AsyncGenerator<string> {
  for (let i = 0; i < Number(count); i++) yield `${crypto.randomUUID()}\n`;
}

try {
  await writeDump(path, lines());
  console.log("written");
} catch (error) {
  console.log((error as Error).message);
}
