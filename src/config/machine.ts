/**
 * What this machine must have for a configuration: a place for the files of the store, an address to listen on. Trouble that
 * passes by itself, like a full disk, is no mistake of the configuration: the gateway starts and waits.
 */
import type { Report } from "../schema/mistakes.ts";

/** The file of an embedded store, or the journal beside a PostgreSQL one, without which the gateway runs in memory. */
export function checkFiles({ url, journal }: { url: string; journal: string | null }, report: Report): void {
  if (url === "sqlite::memory:") return;
  if (url.startsWith("sqlite:")) {
    const allowed = databaseTrouble(url.slice("sqlite:".length));
    if (allowed !== null) report.expect(allowed, url, ["store", "url"]);
  } else if (journal !== null && folderTrouble(folderOf(journal)) !== null) {
    report.doubt("a path where files can be made", journal, ["store", "journal"]);
  }
}

/** What the path would have to be; null: an SQLite database can be there. */
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
    if (!passes(error)) return "the path of a file that can be written";
  }
  return folderTrouble(folderOf(path));
}

const NOT_ALLOWED = "a path that Deno lets the program read and write (--allow-read, --allow-write)";

/** How every file of SQLite begins. */
const SQLITE = "SQLite format 3\0";

/** What the path would have to be; null: a file can be made in the folder, or in the last one of it that is there. */
function folderTrouble(folder: string): string | null {
  const allowed = "a path where files can be made";
  for (let at = folder;;) {
    try {
      if (!Deno.statSync(at).isDirectory) return allowed;
      Deno.removeSync(Deno.makeTempFileSync({ dir: at, prefix: "sluice-check-" }));
      return null;
    } catch (error) {
      // It may make the folder that is to be, and not look at what that will be in.
      if (error instanceof Deno.errors.NotCapable) return at === folder ? NOT_ALLOWED : null;
      if (!(error instanceof Deno.errors.NotFound)) return passes(error) ? null : allowed;
      const above = folderOf(at.replace(/\/+$/, ""));
      // A folder that is there and in which nothing can be found, like those of /proc.
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

/** No room, no handle, no memory: not now. */
function passes(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return ["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "ENOMEM", "EIO", "EAGAIN"].includes(code);
}

/** Tried with a port of the system's choice, since the configured one may be in use by the very gateway that reloads. */
export function checkAddress({ hostname }: { hostname: string }, report: Report): void {
  // A host that opens no sockets for a process has an address for it.
  if (typeof Deno.listen !== "function") return;
  try {
    Deno.listen({ hostname, port: 0 }).close();
  } catch (error) {
    if (passes(error)) return;
    const wanted = error instanceof Deno.errors.NotCapable
      ? "an address that Deno lets the program listen at (--allow-net)"
      : "an address of this machine, or a host name that leads to one";
    report.expect(wanted, hostname, [
      "server",
      "hostname",
    ]);
  }
}
