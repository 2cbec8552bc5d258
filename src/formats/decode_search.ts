/**
 * Decodes options of the built-in web search in the three caller formats: `web_search_options` of
 * chat-completions, and an entry of `tools` in each. They differ only in nesting, so one function serves all.
 */
import type { Mistake } from "../exchange/failure.ts";
import { array, isObject, type Loose, object, string } from "../exchange/json.ts";
import type { SearchOptions, SearchPlace, Tool, ToolChoice } from "../exchange/prompt.ts";
import { decodeCacheMark } from "./cache_mark.ts";
import { mistake, type Path, shown } from "./validation.ts";

/** `web_search`, any released version of it, and OpenRouter's name. */
const SEARCH_TYPE = /^(?:[a-z]+:)?web_search(?:_preview)?(?:_\d{4}_?\d{2}_?\d{2})?$/;

/** Whether this type of tool is a web search, of any version. */
export function isSearchType(type: string): boolean {
  return SEARCH_TYPE.test(type);
}

/** Whether an entry of `tools` is the built-in search, and not a tool defined by the caller. */
export function isSearch(entry: unknown): boolean {
  return isObject(entry) && isSearchType(kindOfTool(entry));
}

/** The `type` of an entry of `tools`; without one, a function, or the search if the entry has only its name. */
export function kindOfTool({ type, name, parameters }: Loose): string {
  return string(type) ?? (name === "web_search" && !parameters ? "web_search" : "function");
}

/** Decodes the options of a web search in any format; errors are added to `mistakes`. */
export function decodeSearchOptions(raw: Loose, loc: Path, mistakes: Mistake[]): SearchOptions {
  const filters = object(raw.filters);
  const options: SearchOptions = {};
  const uses = raw.max_uses;
  if (typeof uses === "number" && Number.isInteger(uses) && uses >= 0) options.maxUses = uses;
  else if (uses !== undefined && uses !== null) {
    mistake(mistakes, "int_type", [...loc, "max_uses"], `expected a whole number from 0, got ${shown(uses)}`);
  }
  if (raw.filters !== undefined && raw.filters !== null && !isObject(raw.filters)) {
    mistake(mistakes, "dict_type", [...loc, "filters"], `expected an object, got ${shown(raw.filters)}`);
  }
  const domains = (field: string, value: unknown) => readDomains(value, [...loc, field], mistakes);
  const allowed = domains("allowed_domains", raw.allowed_domains ?? filters.allowed_domains);
  const blocked = domains(
    "blocked_domains",
    raw.blocked_domains ?? raw.excluded_domains ?? filters.blocked_domains,
  );
  if (allowed.length > 0) options.allowedDomains = allowed;
  if (blocked.length > 0) options.blockedDomains = blocked;
  const size = string(raw.search_context_size);
  if (size !== undefined) options.contextSize = size;
  const location = decodePlace(raw.user_location);
  if (location) options.location = location;
  const cache = decodeCacheMark(raw.cache_control);
  if (cache) options.cache = cache;
  const unread = Object.keys(raw).filter((name) => !READ.has(name) && isNonDefault(name, raw[name]));
  if (unread.length > 0) options.unread = unread.map((name) => `${String(loc[0])}.${name}`);
  return options;
}

/** Fields decoded here, and fields that identify the tool. */
const READ: ReadonlySet<string> = new Set([
  "type",
  "name",
  "description",
  "max_uses",
  "filters",
  "allowed_domains",
  "blocked_domains",
  "excluded_domains",
  "search_context_size",
  "user_location",
  "cache_control",
  // Other forms of the tool itself.
  "function",
  "parameters",
  "web_search",
]);

/** Whether a value differs from the default behaviour. */
function isNonDefault(name: string, value: unknown): boolean {
  if (name === "external_web_access") return value === false;
  return value !== null && value !== undefined && value !== false &&
    !(Array.isArray(value) && (value.length === 0 || (value.length === 1 && USUAL.has(value[0]))));
}

/** Who may call the search, and what it returns. */
const USUAL: ReadonlySet<unknown> = new Set(["direct", "text"]);

/**
 * Applies a `tool_choice` to the search: it may name the search, by type or by a name that no caller's tool
 * has, or exclude it from a list of allowed tools. The search is no longer a tool, so it is removed from the
 * choice.
 */
export function chooseSearch(
  options: SearchOptions | undefined,
  raw: unknown,
  decoded: ToolChoice | undefined,
  tools: readonly Tool[],
): { search?: SearchOptions; toolChoice?: ToolChoice } {
  const choice = object(raw);
  const taken = tools.some((tool) => tool.kind !== "opaque" && tool.name === SEARCH_NAME);
  const names = (entry: Loose) => {
    const name = string(entry.name) ?? string(object(entry.function).name);
    return isSearchType(string(entry.type) ?? "") || (name === SEARCH_NAME && !taken);
  };
  if (options && names(choice)) return { search: { ...options, first: true } };
  const allowed = array(choice.tools ?? object(choice.allowed_tools).tools).map(object);
  const barred = decoded?.type === "allowed" && !allowed.some(names);
  const toolChoice: ToolChoice | undefined = options && !taken && decoded?.type === "allowed"
    ? { ...decoded, names: decoded.names.filter((name) => name !== SEARCH_NAME) }
    : decoded;
  return { ...(options && !barred && { search: options }), ...(toolChoice && { toolChoice }) };
}

const SEARCH_NAME = "web_search";

/** Limits the work per search: the number of domains, and the length of each. */
const MOST_DOMAINS = 1000;
const LONGEST_DOMAIN = 2000;

/** A list that cannot be read is a mistake: without it, pages that the caller excludes would be searched. */
function readDomains(value: unknown, loc: Path, mistakes: Mistake[]): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    mistake(mistakes, "list_type", loc, `expected a list of domains, got ${shown(value)}`);
    return [];
  }
  if (value.length > MOST_DOMAINS) {
    mistake(mistakes, "too_long", loc, `expected at most ${MOST_DOMAINS} domains, got ${value.length}`);
    return [];
  }
  const stray = value.findIndex((domain) => typeof domain !== "string" || domain.trim() === "");
  if (stray >= 0) {
    mistake(mistakes, "string_type", [...loc, stray], `expected a domain, got ${shown(value[stray])}`);
    return [];
  }
  const long = value.findIndex(({ length }: string) => length > LONGEST_DOMAIN);
  if (long < 0) return value;
  mistake(
    mistakes,
    "string_too_long",
    [...loc, long],
    `expected a domain of at most ${LONGEST_DOMAIN} characters, got ${value[long].length}`,
  );
  return [];
}

/** In chat-completions the location is nested one level deeper, under its only type. */
function decodePlace(value: unknown): SearchPlace | undefined {
  const raw = isObject(object(value).approximate) ? object(object(value).approximate) : object(value);
  const place: SearchPlace = {};
  for (const field of ["country", "region", "city", "timezone"] as const) {
    const name = string(raw[field]);
    if (name !== undefined && name !== "") place[field] = name;
  }
  return Object.keys(place).length > 0 ? place : undefined;
}
