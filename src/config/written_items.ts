/** Strings and objects of a configuration as it was written, with their paths, and checks of names among them. */
import { type Loose, object } from "../exchange/json.ts";
import { type InputPath, oneOf, pathText, type Report } from "../schema/mistakes.ts";

/** A string of the configuration and its path. */
export interface Spot {
  text: string;
  path: InputPath;
}

/** An object of the configuration and its path. */
export interface Item {
  value: Loose;
  path: InputPath;
}

/** The entries of a list; empty if the value is not a list. */
export function items(value: unknown, path: InputPath): Item[] {
  return Array.isArray(value) ? value.map((item, i) => ({ value: object(item), path: [...path, i] })) : [];
}

/** The strings of a list. */
export function strings(value: unknown, path: InputPath): Spot[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((text, i) => typeof text === "string" ? [{ text, path: [...path, i] }] : []);
}

/** The strings in one field of these objects. */
export function spots(from: readonly Item[], field: string): Spot[] {
  return from.flatMap(({ value, path }) => {
    const text = value[field];
    return typeof text === "string" ? [{ text, path: [...path, field] }] : [];
  });
}

/** The entries of a section, by name. */
export function named(value: unknown, section: string): Item[] {
  return Object.entries(object(value)).map(([name, entry]) => ({
    value: object(entry),
    path: [section, name],
  }));
}

/** Names of one kind. There may be thousands, and as many references to them. */
export class Names {
  readonly all: readonly string[];
  readonly #set: ReadonlySet<string>;

  constructor(all: readonly string[]) {
    this.all = all;
    this.#set = new Set(all);
  }

  has(name: string): boolean {
    return this.#set.has(name);
  }
}

/** Reports a name that does not exist. @param what describes the names, for example `the models ` */
export function known(spot: Spot, names: Names, what: string, report: Report): void {
  if (!names.has(spot.text)) report.expect(oneOf(names.all, what), spot.text, spot.path, names.all);
}

/** Reports each duplicate. */
export function unique(all: readonly Spot[], report: Report): void {
  const first = new Map<string, InputPath>();
  for (const { text, path } of all) {
    const before = first.get(text);
    if (before) report.expect(`a value that ${pathText(before)} does not have`, text, path);
    else first.set(text, path);
  }
}
