/**
 * What tests share, and where it is. A test imports the file itself: this index would load a whole gateway for it.
 */

/** The least that a provider of each API answers. */
export * from "./answers.ts";
/** APIs by the format that they speak. */
export * from "./apis.ts";
/** A PostgreSQL of the test's own, and stores on it and on SQLite. */
export * from "./cluster.ts";
/** A provider on a raw socket: resets, lies, hangs. */
export * from "./faulty_provider.ts";
/** A gateway on a loopback port, in memory. */
export * from "./gateway.ts";
/** One call through pipeline and codecs without a socket. */
export * from "./in_memory.ts";
/** The program as a process of its own. */
export * from "./program.ts";
/** A provider on loopback that answers what the test says. */
export * from "./provider.ts";
/** Recorded provider traffic. */
export * from "./recordings.ts";
/** Folders of `tests/scenarios`: one meaning in every format. */
export * from "./scenarios.ts";
/** Answers of any content, as each API sends them. */
export * from "./script/mod.ts";
/** Data beside the checkout. */
export * from "./shared.ts";
/** Waiting, and clocks that stand still. */
export * from "./time.ts";
