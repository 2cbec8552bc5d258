/** Settings files of clients: their new text, and how they are written. */
import { UsageError } from "./option_values.ts";
import { writePrivateFile } from "./private_file.ts";

export interface SettingsFile {
  /** Relative to the home folder. */
  path: string;
  /**
   * The new text of the file, from its current text (null: there is no file). Null: the file cannot be
   * changed safely.
   */
  write(before: string | null): string | null;
}

export function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

type Fields = Record<string, unknown>;

/** Merges fields into those that the file has. Undefined fields are removed. */
export function jsonFile(path: string, more: Fields | ((before: unknown) => Fields)): SettingsFile {
  return {
    path,
    write(before) {
      const over = (has: unknown) => typeof more === "function" ? more(has) : more;
      if (before === null || before.trim() === "") return pretty(over({}));
      try {
        const has = JSON.parse(before);
        return pretty(merged(has, over(has)));
      } catch {
        // The file has comments or is damaged: its owner has to change it.
        return null;
      }
    },
  };
}

function merged(before: unknown, more: unknown): unknown {
  const isFields = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isFields(before) || !isFields(more)) return more;
  const fields = { ...before };
  for (const [name, value] of Object.entries(more)) fields[name] = merged(before[name], value);
  return fields;
}

/** A file in a format that is not merged here: it is written only if it is missing or empty. */
export function newFile(path: string, text: string): SettingsFile {
  return { path, write: (before) => before === null || before.trim() === "" ? text : null };
}

/** The home folder. Throws `UsageError` if the environment does not name it. */
export function homeFolder(env: (name: string) => string | undefined): string {
  const home = env("HOME") || env("USERPROFILE");
  if (home) return home;
  throw new UsageError("Cannot write settings: expected the variable HOME to name a folder, it is not set");
}

export interface Written {
  wrote: boolean;
  /** What was done, or why nothing was. */
  message: string;
}

/**
 * Writes the settings. The file as it was before the first time is kept as a backup beside it. Afterwards only
 * its owner can read the file, which contains a key.
 */
export async function writeSettings({ file }: { file?: SettingsFile }, home: string): Promise<Written> {
  if (file === undefined) {
    return { wrote: false, message: "This client has no file of settings; they are above." };
  }
  const path = `${home}/${file.path}`;
  const before = await Deno.readTextFile(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  });
  const text = file.write(before);
  if (text === null) {
    return {
      wrote: false,
      message: `${path} is there already and was left as it is; the settings are above.`,
    };
  }
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  if (before === null) {
    await writePrivateFile(path, text, { createNew: true });
    return { wrote: true, message: `Wrote ${path}.` };
  }
  const backup = `${path}.before-sluice`;
  const kept = await writePrivateFile(backup, before, { createNew: true }).then(
    () => `what was there is in ${backup}`,
    (error) => {
      if (error instanceof Deno.errors.AlreadyExists) return `what was there at first is in ${backup}`;
      throw error;
    },
  );
  await writePrivateFile(path, text);
  return { wrote: true, message: `Wrote ${path}; ${kept}.` };
}
