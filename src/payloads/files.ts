/** Payloads as files: `FOLDER/2026-01-31/3f/gen_…`, readable only by their owner. */
import { join } from "node:path";
import { DAY, nameOf, type PayloadStorage } from "./storage.ts";

/** Suffix of a file that is not complete: it is being written, or its process ended while writing. */
const PART = ".part";
/** An older incomplete file belongs to no running process. */
const PART_MS = 3_600_000;

/**
 * Payloads as files, one folder per day.
 * @param place the name of this machine, which tells other nodes where a payload is
 */
export function openFiles(folder: string, place: string, now: () => number): PayloadStorage {
  const made = new Set<string>();
  async function makeFolder(path: string): Promise<void> {
    if (made.has(path)) return;
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
    if (made.size >= 1024) made.clear();
    made.add(path);
  }
  return {
    place,
    async put(id, content) {
      const name = join(folder, nameOf(id));
      const within = name.slice(0, -id.length - 1);
      await makeFolder(within);
      const part = `${name}.${crypto.randomUUID()}${PART}`;
      try {
        try {
          await Deno.writeFile(part, content, { createNew: true, mode: 0o600 });
        } catch (error) {
          if (!(error instanceof Deno.errors.NotFound)) throw error;
          // The folder was deleted in the meantime.
          made.delete(within);
          await makeFolder(within);
          await Deno.writeFile(part, content, { createNew: true, mode: 0o600 });
        }
        await Deno.rename(part, name);
      } catch (error) {
        await Deno.remove(part).catch(() => {});
        throw error;
      }
    },
    async get(id) {
      try {
        return await Deno.readFile(join(folder, nameOf(id)));
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return null;
        throw error;
      }
    },
    async removeBefore(day) {
      for (const name of await namesIn(folder)) {
        if (!DAY.test(name) || name >= day) continue;
        for (const inner of await namesIn(join(folder, name))) {
          await remove(join(folder, name, inner), { recursive: true });
          made.delete(join(folder, name, inner));
          return true;
        }
        await remove(join(folder, name));
        return true;
      }
      return false;
    },
    async tidy() {
      for (const day of (await namesIn(folder)).filter((name) => DAY.test(name))) {
        for (const inner of await namesIn(join(folder, day))) {
          for (const name of await namesIn(join(folder, day, inner))) {
            if (!name.endsWith(PART)) continue;
            const path = join(folder, day, inner, name);
            const { mtime } = await Deno.stat(path).catch(() => ({ mtime: null }));
            if (mtime !== null && now() - mtime.getTime() > PART_MS) await Deno.remove(path).catch(() => {});
          }
        }
      }
    },
  };
}

/** Another node that shares the folder may have deleted it already. */
async function remove(path: string, options?: Deno.RemoveOptions): Promise<void> {
  try {
    await Deno.remove(path, options);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return [];
    throw error;
  }
}
