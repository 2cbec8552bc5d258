/** What befalls the gateways and their store while they work. */
import { openSqlite } from "../../src/store/sqlite/mod.ts";
import type { Cluster } from "../support/cluster.ts";
import type { Load } from "./load.ts";
import type { Nodes } from "./nodes.ts";
import { pause } from "../support/time.ts";

export interface Counted {
  kills: number;
  /** Of these, right after a provider had ended an answer. */
  aimed: number;
  outages: number;
  fills: number;
  locks: number;
}

const between = (least: number, most: number) => least + Math.random() * (most - least);

export interface Disturbance {
  counted: Counted;
  /** Ends it, and mends what is broken. */
  stop(): Promise<void>;
}

export interface Ground {
  nodes: Nodes;
  load: Load;
  /** Seconds between kills, on average. */
  everySeconds: number;
  kills: number;
  cluster: Cluster | null;
  /** A disk of its own, which can be filled; null: there is none. */
  disk: string | null;
  /** File of an SQLite store. */
  file: string | null;
}

export function disturb(ground: Ground): Disturbance {
  const { nodes, load, cluster, disk, file } = ground;
  const counted: Counted = { kills: 0, aimed: 0, outages: 0, fills: 0, locks: 0 };
  let running = true;

  /** Sleeps, but not beyond the end. */
  async function rest(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (running && performance.now() < until) await pause(Math.min(50, until - performance.now()));
  }

  async function kill(): Promise<void> {
    while (running && counted.kills < ground.kills) {
      await rest(between(0.5, 1.5) * ground.everySeconds * 1000);
      const up = nodes.list.filter((node) => node.up);
      if (up.length === 0 || !running) continue;
      const node = up[Math.floor(Math.random() * up.length)];
      const before = nodes.kills.length;
      if (Math.random() < 0.4) {
        load.armed = node;
        await rest(500);
        load.armed = null;
        if (nodes.kills.length > before) counted.aimed++;
      }
      if (nodes.kills.length === before) node.kill();
      counted.kills = nodes.kills.length;
    }
  }

  /** What runs must be finished first, so no caller and no record may notice. */
  async function restart(): Promise<void> {
    while (running) {
      await rest(between(8000, 20_000));
      const up = nodes.list.filter((node) => node.up);
      if (running && up.length > 0) up[Math.floor(Math.random() * up.length)].restart();
    }
  }

  async function stopDatabase(): Promise<void> {
    while (running && cluster !== null) {
      await rest(between(4000, 16_000));
      if (!running) break;
      await cluster.stop();
      counted.outages++;
      await rest(between(300, 3000));
      await cluster.start();
    }
  }

  async function fill(): Promise<void> {
    while (running && disk !== null) {
      await rest(between(5000, 20_000));
      if (!running) break;
      fillUp(`${disk}/filler`);
      counted.fills++;
      await rest(between(200, 1500));
      await Deno.remove(`${disk}/filler`);
    }
  }

  async function lock(): Promise<void> {
    while (running && file !== null) {
      await rest(between(5000, 20_000));
      if (!running) break;
      try {
        const intruder = openSqlite(file);
        await intruder.transaction(() => rest(between(100, 1500)));
        await intruder.close();
        counted.locks++;
      } catch {
        // The gateways have kept it busy, or the disk is full: another time.
      }
    }
  }

  const all = [kill(), restart(), stopDatabase(), fill(), lock()];
  return {
    counted,
    async stop() {
      running = false;
      await Promise.all(all);
      await cluster?.start();
    },
  };
}

function fillUp(path: string): void {
  const file = Deno.openSync(path, { write: true, create: true });
  const zeros = new Uint8Array(1 << 16);
  try {
    for (let size = zeros.length; size > 0;) {
      try {
        file.writeSync(zeros.subarray(0, size));
      } catch {
        size >>= 1;
      }
    }
  } finally {
    file.close();
  }
}

/** A file system of so many megabytes over the folder `path`; false: mounting one takes rights that this process lacks. */
export async function mountSmall(path: string, megabytes: number): Promise<boolean> {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return false;
  return await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "sluice-chaos", path]);
}

export async function unmount(path: string): Promise<void> {
  await run("umount", [path]);
}

async function run(program: string, args: string[]): Promise<boolean> {
  try {
    return (await new Deno.Command(program, { args, stdout: "null", stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}
