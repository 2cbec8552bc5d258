/**
 * Makes a process like an instance of Deno Deploy, as far as a process can be: loaded before the program (`--preload`). There is no
 * listener but the host's, no thread, no program to start and no file; a database is reached over TCP by node:net.
 */
// deno-lint-ignore no-explicit-any
const given = { deno: Deno as any, global: globalThis as any };
for (const name of ["listen", "listenTls", "connect", "connectTls", "Command", "dlopen"]) {
  delete given.deno[name];
}
delete given.global.Worker;
