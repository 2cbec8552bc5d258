/**
 * Parses the command line to a command, or to a message about what is wrong with it.
 *
 * Pure: it reads nothing and prints nothing. Options may be written `--name VALUE` or `--name=VALUE`, before
 * or after the words of the command.
 */
import { parseArgs } from "node:util";
import { oneOf } from "../schema/mistakes.ts";
import type { Command } from "./command.ts";
import { COMMANDS } from "./command_table.ts";
import { type Option, OPTIONS, UsageError, type Values, wrong } from "./option_values.ts";

/** The allowed second words for each first word; empty: the command's name has only one word. */
const ACTIONS = new Map<string, string[]>();
for (const name of Object.keys(COMMANDS)) {
  const [first, action] = name.split(" ");
  ACTIONS.set(first, [...(ACTIONS.get(first) ?? []), ...(action === undefined ? [] : [action])]);
}

/**
 * Parses the arguments of the program, without its own name. Throws `UsageError`, whose message is shown to
 * the user.
 */
export function parseCommand(args: readonly string[]): Command {
  const { values, words } = split(args);
  if (values.help || words[0] === "help") {
    const [first, ...rest] = words;
    if (first === "help" && rest.length > 0 && !ACTIONS.has(rest[0])) {
      throw wrong("command", [...ACTIONS.keys()], rest[0]);
    }
    const about = topicOf(first === "help" ? rest : words);
    return { command: "help", ...(about !== undefined && { about }) };
  }
  if (values.version) return { command: "version" };

  const name = nameOf(words);
  const { options, read } = COMMANDS[name];
  for (const option of Object.keys(values) as Option[]) {
    if (option !== "config" && !options.includes(option)) {
      const takes = (["config", ...options] as const).map((name) => `--${name}`);
      throw new UsageError(`Cannot use --${option} with ${name}: expected ${oneOf(takes)}`);
    }
  }
  const command = read({ name, values, words, json: values.json ?? false, config: values.config });
  if (words.length > 0) {
    const found = `${JSON.stringify(words[0])}${hintOf(words[0])}`;
    throw new UsageError(`Cannot read ${name}: expected no more words, got ${found}`);
  }
  return command;
}

/** The command that help is wanted for, as far as it is known. Undefined: for all. */
function topicOf([first, second]: readonly string[]): string | undefined {
  const actions = ACTIONS.get(first);
  if (actions === undefined) return undefined;
  return actions.includes(second) ? `${first} ${second}` : first;
}

/** Removes the one or two words of a command's name. */
function nameOf(words: string[]): string {
  const first = words.shift() ?? "serve";
  const actions = ACTIONS.get(first);
  if (actions === undefined) throw wrong("command", [...ACTIONS.keys()], first, hintOf(first));
  if (actions.length === 0) return first;
  const action = words.shift();
  if (action === undefined || !actions.includes(action)) throw wrong(first, actions, action);
  return `${first} ${action}`;
}

/** For the path of a configuration without `--config`. */
function hintOf(word: string): string {
  return /\.jsonc?$/i.test(word) ? "; a configuration is given as --config FILE" : "";
}

/** The options of the command that these words begin with; of all commands if there is none. */
function optionsOf([first = "serve", action]: readonly string[]): readonly string[] {
  const name = [first, `${first} ${action}`].find((name) => Object.hasOwn(COMMANDS, name));
  return name === undefined ? Object.keys(OPTIONS) : ["config", ...COMMANDS[name].options, "help"];
}

function split(args: readonly string[]): { values: Values; words: string[] } {
  // Not strict: the errors of the parser do not say what is allowed.
  const { tokens } = parseArgs({ args: [...args], options: OPTIONS, strict: false, tokens: true });
  const values: Record<string, string | boolean> = {};
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    if (!Object.hasOwn(OPTIONS, token.name)) {
      const given = tokens.flatMap((other) => other.kind === "positional" ? [other.value] : []);
      throw wrong("option", optionsOf(given).map((name) => `--${name}`), token.rawName);
    }
    const option = token.name as Option;
    if (Object.hasOwn(values, option)) {
      throw new UsageError(`Cannot read --${option}: expected it once, got it twice`);
    }
    if (OPTIONS[option].type === "boolean") {
      if (token.value !== undefined) {
        throw new UsageError(
          `Cannot read --${option}: expected no value, got ${JSON.stringify(token.value)}`,
        );
      }
      values[option] = true;
    } else {
      // In `--config --port 80`, `--port` would become the value of `--config`. No value here begins with two
      // dashes, so the value is missing.
      if (!token.value || (!token.inlineValue && token.value.startsWith("--"))) {
        throw new UsageError(`Cannot read --${option}: expected a value, got nothing`);
      }
      values[option] = token.value;
    }
  }
  return { values, words };
}
