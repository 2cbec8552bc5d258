/** All mistakes of one configuration. The message lists them, one a line. */
import type { InputMistake } from "../schema/mistakes.ts";

export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly mistakes: readonly InputMistake[];

  constructor(source: string, mistakes: readonly InputMistake[]) {
    const count = mistakes.length === 1 ? "1 mistake" : `${mistakes.length} mistakes`;
    const lines = mistakes.map(({ path, message }) => `  ${path}${path && ": "}${message}`);
    super(`Cannot use ${source}: ${count}\n${lines.join("\n")}`);
    this.mistakes = mistakes;
  }
}
