/** Readable messages for errors of the operating system about files that a command names. */

const VERBS: Readonly<Record<string, string>> = {
  copy: "copy",
  mkdir: "make the folder",
  open: "open",
  readdir: "read the folder",
  readfile: "read",
  remove: "remove",
  rename: "rename",
  stat: "read",
  writefile: "write",
};
/** The form of Deno's messages: the system's text, its number, the operation, the file, and its new path. */
const FORM = /^(.+?) \(os error \d+\): (\w+) '(.+?)'(?: -> '(.+)')?$/s;

/** A readable message for an error of the operating system. */
export function readableMessage(error: Error): string {
  const [, text, operation, file, target] = FORM.exec(error.message) ?? [];
  if (file === undefined) return error.message;
  const { IsADirectory, NotADirectory, NotFound, PermissionDenied } = Deno.errors;
  const why = error instanceof NotFound
    ? operation === "writefile" || file.endsWith(".part")
      ? "there is no such folder"
      : "there is no such file"
    : error instanceof IsADirectory
    ? "expected a file, got a folder"
    : error instanceof NotADirectory
    ? "a part of its path is no folder"
    : error instanceof PermissionDenied
    ? "this user has no permission"
    : `${text[0].toLowerCase()}${text.slice(1)}`;
  // A file is written beside its path and then renamed.
  if (operation === "rename" && file === `${target}.part`) return `Cannot write ${target}: ${why}`;
  return `Cannot ${VERBS[operation] ?? "use"} ${file.replace(/\.part$/, "")}: ${why}`;
}
