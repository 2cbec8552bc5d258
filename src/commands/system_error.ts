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
/** The form of Deno's messages: the system's text, its number, the operation and the file. */
const FORM = /^(.+) \(os error \d+\): (\w+) '(.+)'(?: -> '.+')?$/s;

/** A readable message for an error of the operating system. */
export function inWords(error: Error): string {
  const [, said, asked, file] = FORM.exec(error.message) ?? [];
  if (file === undefined) return error.message;
  const { IsADirectory, NotADirectory, NotFound, PermissionDenied } = Deno.errors;
  const why = error instanceof NotFound
    ? asked === "writefile" || file.endsWith(".part") ? "there is no such folder" : "there is no such file"
    : error instanceof IsADirectory
    ? "expected a file, got a folder"
    : error instanceof NotADirectory
    ? "a part of its path is no folder"
    : error instanceof PermissionDenied
    ? "this user has no permission"
    : `${said[0].toLowerCase()}${said.slice(1)}`;
  return `Cannot ${VERBS[asked] ?? "use"} ${file.replace(/\.part$/, "")}: ${why}`;
}
