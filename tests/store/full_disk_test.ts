/** A dump file that cannot be written whole is an error, and leaves the file before as it was. */
import { assertEquals, assertMatch } from "@std/assert";

const PROGRAM = new URL("full_disk_program.ts", import.meta.url).pathname;
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

/** A dump of so many lines with files of at most so many blocks of 512 bytes, as on a disk that is nearly full. */
async function dump(path: string, lines: string, blocks: string): Promise<string> {
  const { stdout } = await new Deno.Command("/bin/sh", {
    args: [
      "-c",
      `trap '' XFSZ; ulimit -f ${blocks}; exec "$@"`,
      "sh",
      Deno.execPath(),
      ...["run", "-A", "--no-check", "--config", CONFIG, PROGRAM, path, lines],
    ],
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

Deno.test({
  name: "writeDump() fails where the disk has no room for all of it, and keeps the file that was there",
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = await Deno.makeTempDir();
    const path = `${folder}/x.backup`;
    const files = () => [...Deno.readDirSync(folder)].map(({ name }) => name);
    // At the only write, at the first and at a later one.
    for (const [lines, blocks] of [["100", "2"], ["20000", "8"], ["20000", "200"]]) {
      assertMatch(await dump(path, lines, blocks), /\(os error 27\): writefile '.*\.part'$/);
      assertEquals(files(), []);
    }
    await Deno.writeTextFile(path, "of yesterday");
    assertMatch(await dump(path, "100", "2"), /os error 27/);
    assertEquals([files(), await Deno.readTextFile(path)], [["x.backup"], "of yesterday"]);
    assertEquals(await dump(path, "100", "unlimited"), "written");
    await Deno.remove(folder, { recursive: true });
  },
});
