/**
 * Checks what a configuration needs of this machine: folders for the files of the store, and an address to
 * listen on. Temporary problems, like a full disk, are not mistakes of the configuration: the gateway starts
 * and waits.
 */
import type { Report } from "../schema/mistakes.ts";

/**
 * Checks the file of an embedded store, or the journal beside a PostgreSQL store; without it the gateway
 * keeps records in memory.
 */
export function checkFiles({ url, journal }: { url: string; journal: string | null }, report: Report): void {
  if (url === "sqlite::memory:") return;
  if (url.startsWith("sqlite:")) {
    const allowed = databaseTrouble(url.slice("sqlite:".length));
    if (allowed !== null) report.expect(allowed, url, ["store", "url"]);
  } else if (journal !== null && folderTrouble(folderOf(journal)) !== null) {
    report.doubt("a path where files can be made", journal, ["store", "journal"]);
  }
}

/** A description of the required path; null: an SQLite database can be there. */
function databaseTrouble(path: string): string | null {
  try {
    using file = Deno.openSync(path, { read: true, write: true });
    const start = new Uint8Array(SQLITE.length);
    const length = file.readSync(start) ?? 0;
    if (length > 0 && new TextDecoder().decode(start) !== SQLITE) return "the path of an SQLite database";
  } catch (error) {
    if (error instanceof Deno.errors.IsADirectory) return "the path of a file (a directory has this path)";
    if (error instanceof Deno.errors.NotFound) return folderTrouble(folderOf(path));
    if (error instanceof Deno.errors.NotCapable) return NOT_ALLOWED;
    if (!isTemporary(error)) return "the path of a file that can be written";
  }
  return folderTrouble(folderOf(path));
}

const NOT_ALLOWED = "a path that Deno lets the program read and write (--allow-read, --allow-write)";

/** The first bytes of every SQLite file. */
const SQLITE = "SQLite format 3\0";

/** A description of the required path; null: a file can be created in the folder, or in its nearest existing parent. */
function folderTrouble(folder: string): string | null {
  const allowed = "a path where files can be made";
  for (let at = folder;;) {
    try {
      if (!Deno.statSync(at).isDirectory) return allowed;
      Deno.removeSync(Deno.makeTempFileSync({ dir: at, prefix: "sluice-check-" }));
      return null;
    } catch (error) {
      // The process may be allowed to create the folder, but not to read its parent.
      if (error instanceof Deno.errors.NotCapable) return at === folder ? NOT_ALLOWED : null;
      if (!(error instanceof Deno.errors.NotFound)) return isTemporary(error) ? null : allowed;
      const above = folderOf(at.replace(/\/+$/, ""));
      // An existing folder in which nothing can be looked up, like some in /proc.
      if (above === at || exists(at)) return allowed;
      at = above;
    }
  }
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

function folderOf(path: string): string {
  const folder = path.replace(/[^/\\]+$/, "");
  if (folder !== "") return folder;
  return path === "" || path === "." ? "/" : ".";
}

/** Out of disk space, file descriptors or memory: this may change. */
function isTemporary(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return ["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "ENOMEM", "EIO", "EAGAIN"].includes(code);
}

/**
 * Tested with a port that the system chooses, since the configured one may be in use by the gateway that is
 * reloading.
 */
export function checkAddress({ hostname }: { hostname: string }, report: Report): void {
  // A host without sockets assigns the address itself.
  if (typeof Deno.listen !== "function") return;
  try {
    Deno.listen({ hostname, port: 0 }).close();
  } catch (error) {
    if (isTemporary(error)) return;
    const wanted = error instanceof Deno.errors.NotCapable
      ? "an address that Deno lets the program listen at (--allow-net)"
      : "an address of this machine, or a host name that leads to one";
    report.expect(wanted, hostname, [
      "server",
      "hostname",
    ]);
  }
}
