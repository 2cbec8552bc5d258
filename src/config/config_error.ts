/** All mistakes of a configuration. The message lists them, one per line. */
import { countOf } from "../exchange/printable.ts";
import type { InputMistake } from "../schema/mistakes.ts";

export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly mistakes: readonly InputMistake[];

  constructor(source: string, mistakes: readonly InputMistake[]) {
    const lines = mistakes.map(({ path, message }) => `  ${path}${path && ": "}${message}`);
    super(`Cannot use ${source}: ${countOf(mistakes.length, "mistake")}\n${lines.join("\n")}`);
    this.mistakes = mistakes;
  }
}
