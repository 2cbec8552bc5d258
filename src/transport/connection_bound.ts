/** The maximum number of client connections of a process, derived from its file descriptor limit. */
import type { Level } from "../exchange/log_level.ts";
import { isOutOfFiles } from "../timing/start_thread.ts";
import { pause } from "../timing/waits.ts";

/** Files opened to probe the limit, at about 15 µs each. Usual limits are 1,024, 4,096, or far higher. */
const MOST_LOOKED_FOR = 4200;
/**
 * From this limit on there are enough file descriptors for all connections including HTTP/2, for WebSockets,
 * and for as many provider calls.
 */
const PLENTY = 50_000;
/** Files opened per turn of the event loop while probing: 1.5 ms. */
const FILES_A_TURN = 100;
/** Minimum number of files that are free between these turns, for callers. */
const FILES_BETWEEN = 32;
/**
 * Share of the file descriptors for client connections; the rest is for providers, the store and everything
 * else.
 */
const SHARE = 0.5;
/** The number of connections if the limit is far higher. */
const USUAL = 8192;
/**
 * Share of the file descriptors for idle WebSockets, which need no provider connection; and the number of
 * these if the limit is far higher.
 */
const SHARE_OF_RESTING = 0.25;
const MOST_RESTING = 16_384;
/** File descriptors reserved for the store, auxiliary services, and modules that are loaded later. */
const FILES_LEFT = 512;

export interface ConnectionBound {
  /** Maximum number of connections, as far as known. */
  readonly most: number;
  /** Number of idle WebSockets that may be open in addition. */
  readonly resting: number;
  /** Number of available file descriptors; null: far more than needed, or not known yet. */
  readonly files: number | null;
  /** File descriptors that client connections may use. */
  readonly mostFiles: number;
  /**
   * Whether file descriptors remain after client connections, WebSockets and this many provider calls have
   * used their maximum.
   */
  leavesFiles(calls: number): boolean;
  /**
   * Determines the file descriptor limit. Takes several turns of the event loop, so it runs after the start.
   *
   * @param opened returns the number of connections that are open by then, whose descriptors count as
   * available
   */
  find(opened?: () => number): Promise<void>;
}

/**
 * @param configured null: as many as possible
 * @param workers number of processes that share the configured number
 */
export function connectionBound(
  configured: number | null,
  workers: number,
  log: (line: string, level: Level) => void,
): ConnectionBound {
  const share = configured === null ? USUAL : Math.max(1, Math.floor(configured / workers));
  let most = share;
  let resting = 0;
  let files: number | null = null;
  return {
    get most() {
      return most;
    },
    get resting() {
      return resting;
    },
    get files() {
      return files;
    },
    get mostFiles() {
      return files === null ? Infinity : Math.max(1, Math.floor(files * SHARE));
    },
    leavesFiles(calls) {
      return files === null || files * (1 - SHARE - SHARE_OF_RESTING) >= calls + FILES_LEFT;
    },
    async find(opened = () => 0) {
      const { count, isAll } = await openable(MOST_LOOKED_FOR);
      if (configured === null) {
        resting = Math.floor(Math.min(MOST_RESTING, (count + opened()) * SHARE_OF_RESTING));
      }
      if (!isAll) return;
      files = count + opened();
      most = Math.min(share, Math.max(1, Math.floor(files * SHARE)));
      if (configured === null || share <= most) return;
      log(
        `warning: server.max_connections: ${share} connections need ${
          2 * share
        } open files, and the process ` +
          `may open ${files}: the bound is ${most} (ulimit -n raises it)`,
        "warn",
      );
    },
  };
}

/** The limit reported by a shell, which inherits it; null: the process may not run a shell, or there is none. */
async function limitSaid(): Promise<number | null> {
  try {
    const { state } = await Deno.permissions.query({ name: "run", command: "sh" });
    if (state !== "granted") return null;
    const { stdout } = await new Deno.Command("sh", { args: ["-c", "ulimit -n"] }).output();
    const said = new TextDecoder().decode(stdout).trim();
    return said === "unlimited" ? Infinity : Number(said) || null;
  } catch {
    return null;
  }
}

/**
 * The number of files that can be opened, as far as known. Unless the limit is known to be far higher, files
 * are opened and closed to find out.
 */
async function openable(most: number): Promise<{ count: number; isAll: boolean }> {
  const said = await limitSaid();
  if (said !== null && said > 2 * most) return { count: said, isAll: said < PLENTY };
  const files: Deno.FsFile[] = [];
  try {
    while (files.length < most) {
      for (let i = 0; i < FILES_A_TURN + FILES_BETWEEN; i++) files.push(Deno.openSync("/dev/null"));
      for (const file of files.splice(-FILES_BETWEEN)) file.close();
      await pause(0);
    }
    return { count: files.length, isAll: false };
  } catch (error) {
    // If it may not open this file, nothing is known.
    return { count: files.length, isAll: files.length > 0 || isOutOfFiles(error) };
  } finally {
    for (const file of files) file.close();
  }
}
