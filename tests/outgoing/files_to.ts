/**
 * How many connections to a port of this machine have an open file. To count the files of the process would count those of test
 * files that run beside this one.
 */
export function filesTo(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = Deno.readTextFileSync("/proc/net/tcp").trimEnd().split("\n").slice(1);
  return rows.map((row) => row.trim().split(/\s+/)).filter((row) => row[2].endsWith(remote) && row[9] !== "0")
    .length;
}
