/** Writes files that contain a secret. */

const MODE = 0o600;

/**
 * Writes a file that only its owner may read, as a whole or not at all: with a full disk, the settings of a
 * client would otherwise be lost.
 * @param createNew an existing file is an error
 */
export async function writePrivateFile(
  path: string,
  text: string,
  { createNew = false } = {},
): Promise<void> {
  const { file, special } = createNew ? { file: path, special: false } : await existing(path);
  if (special) return await Deno.writeTextFile(file, text);
  if (createNew) await Deno.writeTextFile(file, "", { createNew, mode: MODE });
  const draft = `${file}.part`;
  try {
    // A file that is there would keep its own mode.
    await Deno.remove(draft).catch(() => {});
    await Deno.writeTextFile(draft, text, { createNew: true, mode: MODE });
    await Deno.rename(draft, file);
  } catch (error) {
    for (const incomplete of createNew ? [draft, file] : [draft]) {
      await Deno.remove(incomplete).catch(() => {});
    }
    throw error;
  }
}

/** The file to replace, behind symbolic links; `special`: a device or a pipe, which cannot be replaced. */
async function existing(path: string): Promise<{ file: string; special: boolean }> {
  try {
    const file = await Deno.realPath(path);
    return { file, special: !(await Deno.stat(file)).isFile };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { file: path, special: false };
    throw error;
  }
}
