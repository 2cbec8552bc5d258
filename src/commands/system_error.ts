/** Which errors an operator can correct, and readable messages for those of the operating system about files that a command names. */
import { StoreRefused } from "../accounts/mod.ts";
import { ConfigError } from "../config/config_error.ts";
import { StoreUnfit } from "../store/mod.ts";
import { UsageError } from "./option_values.ts";

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

/** Whether the operator can fix the cause: arguments, configuration, a port in use, missing permissions. */
export function isOperatorError(error: unknown): error is Error {
  return error instanceof UsageError || error instanceof ConfigError || error instanceof StoreUnfit ||
    error instanceof StoreRefused ||
    Object.values(Deno.errors).some((kind) => error instanceof kind) ||
    // Some errors of the operating system, such as a full disk, have no class of their own.
    (error instanceof Error && /\(os error \d+\)(?:$|: )/.test(error.message)) ||
    (error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR");
}

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
