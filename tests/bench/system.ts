/** What Linux says of a process and those it started: CPU time, memory, instructions. Null where the system does not say. */
import { pause } from "../support/time.ts";

const PAGE_BYTES = 4096;

/** CPU time so far, in microseconds, of all threads. The scheduler's own count: exact to less than a microsecond. */
export function cpuMicros(pid: number): number | null {
  return sum(pid, (process) => {
    Deno.statSync(`/proc/${process}/schedstat`);
    let nanos = 0;
    for (const { name } of Deno.readDirSync(`/proc/${process}/task`)) {
      nanos += Number(textOf(`/proc/${process}/task/${name}/schedstat`).split(" ")[0]);
    }
    return nanos / 1000;
  });
}

/** For how long the main thread of a process could have run, and others had its core, in microseconds. */
export function waitedMicros(pid: number): number | null {
  try {
    return Number(Deno.readTextFileSync(`/proc/${pid}/schedstat`).split(" ")[1]) / 1000;
  } catch {
    return null;
  }
}

/** Memory that is resident now. */
export function residentBytes(pid: number): number | null {
  return sum(
    pid,
    (process) => Number(Deno.readTextFileSync(`/proc/${process}/statm`).split(" ")[1]) * PAGE_BYTES,
  );
}

/** How many processes a process has started that still run; null: unknown. */
export function children(pid: number): number | null {
  try {
    return processes(pid).length - 1;
  } catch {
    return null;
  }
}

/** Looks at a program's open files that find the same. */
const SAME_LOOKS = 3;
/** What is counted: instructions outside of the kernel, written for a program to read. */
const COUNTED = ["stat", "-x", ",", "-e", "instructions:u"];

export interface Counting {
  /** Instructions of all threads since the beginning. */
  stop(): Promise<number>;
}

/**
 * Counts what a process executes outside of the kernel, by `perf`; null: it is not here, may not, or the processor does not
 * count (as in many virtual machines). What the kernel does for a call depends on how many of them it hands over at once, and
 * so on who else is busy.
 */
export async function countInstructions(pid: number): Promise<Counting | null> {
  if (!await counts()) return null;
  const report = await Deno.makeTempFile();
  try {
    const perf = new Deno.Command("perf", {
      args: [...COUNTED, "-p", `${pid}`, "-o", report],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    if (!await attached(perf)) {
      await Deno.remove(report);
      return null;
    }
    return {
      async stop() {
        perf.kill("SIGINT");
        await perf.status;
        const count = /^(\d+),.*instructions/m.exec(await Deno.readTextFile(report))?.[1];
        await Deno.remove(report);
        return Number(count ?? NaN);
      },
    };
  } catch (error) {
    await Deno.remove(report);
    throw error;
  }
}

/** Where nothing can be counted, `perf` opens no counter of a process and waits for its end. */
async function counts(): Promise<boolean> {
  try {
    const { stderr } = await new Deno.Command("perf", {
      args: [...COUNTED, "true"],
      stdin: "null",
      stdout: "null",
    }).output();
    return /^\d+,.*instructions/m.test(new TextDecoder().decode(stderr));
  } catch {
    return false;
  }
}

/** It says nothing when it begins to count: it has opened a counter for each thread then, and opens no more. */
async function attached(perf: Deno.ChildProcess): Promise<boolean> {
  let over = false;
  void perf.status.then(() => over = true);
  for (let open = 0, same = 0; !over;) {
    await pause(20);
    const now = counters(perf.pid);
    same = now > 0 && now === open ? same + 1 : 0;
    if (same === SAME_LOOKS) return true;
    open = now;
  }
  return false;
}

function counters(pid: number): number {
  try {
    return Array.from(Deno.readDirSync(`/proc/${pid}/fd`)).filter(({ name }) =>
      Deno.readLinkSync(`/proc/${pid}/fd/${name}`).includes("perf_event")
    ).length;
  } catch {
    return 0;
  }
}

function sum(pid: number, of: (pid: number) => number): number | null {
  try {
    return processes(pid).reduce((total, process) => total + of(process), 0);
  } catch {
    return null;
  }
}

function processes(pid: number): number[] {
  const found = [pid];
  for (const process of found) {
    for (const { name } of Deno.readDirSync(`/proc/${process}/task`)) {
      const text = textOf(`/proc/${process}/task/${name}/children`).trim();
      if (text !== "") found.push(...text.split(" ").map(Number));
    }
  }
  return found;
}

/** A thread may end between being listed and being read. */
function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}
