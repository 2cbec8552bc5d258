/** Retention where files cannot be deleted, or where another node deletes them at the same time. */
import { assertEquals } from "@std/assert";
import { openFiles } from "../../src/payloads/files.ts";
import { Retention } from "../../src/payloads/retention.ts";

const TODAY = Date.UTC(2026, 0, 31);

/** Runs a round of retention over three days, two of which are over. */
async function round(
  remove: (path: string, own: typeof Deno.remove) => Promise<void>,
): Promise<{ warned: string[]; left: string[] }> {
  const folder = await Deno.makeTempDir();
  const own = Deno.remove;
  const warned: string[] = [];
  try {
    await Deno.mkdir(`${folder}/2026-01-01`);
    for (const day of ["2026-01-02", "2026-01-31"]) {
      await Deno.mkdir(`${folder}/${day}/3f`, { recursive: true });
      await Deno.writeTextFile(`${folder}/${day}/3f/gen_1`, "payload");
    }
    Deno.remove = (path, options) =>
      String(path).startsWith(folder) ? remove(String(path), () => own(path, options)) : own(path, options);
    const storage = openFiles(folder, "here", () => TODAY);
    const retention = new Retention({
      storage,
      days: 2,
      now: () => Promise.resolve(TODAY),
      warn: (line) => warned.push(line.replaceAll(folder, "")),
    });
    await retention.round();
    const left = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
    return { warned, left: left.sort() };
  } finally {
    Deno.remove = own;
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a day that cannot be deleted ends the round with a warning", async () => {
  const denied = () => Promise.reject(new Deno.errors.PermissionDenied("denied"));
  assertEquals(await round(denied), {
    warned: ["payloads past their time could not be deleted: PermissionDenied: denied"],
    left: ["2026-01-01", "2026-01-02", "2026-01-31"],
  });
});

Deno.test("what another node deletes at the same time does not keep this one from the rest", async () => {
  const late = async (path: string, own: typeof Deno.remove) => {
    await own(path, { recursive: true });
    await own(path);
  };
  assertEquals(await round(late), { warned: [], left: ["2026-01-31"] });
});
