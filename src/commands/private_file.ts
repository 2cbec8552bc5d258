/** Writes files that contain a secret. */

/**
 * Writes a file that only its owner may read. The mode that a new file gets has no effect on an existing one.
 * @param createNew an existing file is an error
 */
export async function writePrivateFile(
  path: string,
  text: string,
  { createNew = false } = {},
): Promise<void> {
  const mode = 0o600;
  // Before the secret is in it. Windows has no modes.
  if (!createNew && Deno.build.os !== "windows") {
    await Deno.chmod(path, mode).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
  await Deno.writeTextFile(path, text, { createNew, mode });
}
