/** What Linux says of a process and those it started: CPU time and memory. Null where the system does not say. */

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
