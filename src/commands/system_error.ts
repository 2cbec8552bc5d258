/** What the system refuses of a file or folder that a command names, in words. */

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
/** As Deno words them: what the system says, its number, what was asked of it and of which file. */
const FORM = /^(.+) \(os error \d+\): (\w+) '(.+)'(?: -> '.+')?$/s;

/** The message of an error for who can mend it. */
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
