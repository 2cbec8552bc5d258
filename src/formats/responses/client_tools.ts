/**
 * The typed tools of the responses format that the client runs (`shell`, `local_shell`, `apply_patch`,
 * `computer`), their calls and results, as functions for providers that do not know them. Calls return to the
 * client as items of the tool.
 *
 * The arguments of a function are the fields of OpenAI's action or operation.
 */
import { array, isObject, type Loose, number, object, parse, string } from "../../exchange/json.ts";
import type { CallContent, Content, FunctionTool, ResultContent } from "../../exchange/prompt.ts";
import { decodeUrl } from "../media.ts";

interface ClientTool {
  /** Of the function. */
  readonly name: string;
  /** Prefix of the ids of items. */
  readonly prefix: string;
  description(tool: Loose): string;
  readonly properties: Loose;
  readonly required: readonly string[];
  /** The arguments of the function, from an item with a call. */
  args(item: Loose): unknown;
  /** The fields of an item with a call; undefined: the arguments are not valid. */
  fields(args: Loose): Loose | undefined;
  /** What the model reads of an item with a result. */
  result(item: Loose): { content: Content[]; failed?: boolean };
}

const text = (description: string) => ({ type: "string", description });
const whole = (description: string) => ({ type: "integer", description });
const texts = (description: string) => ({ type: "array", items: { type: "string" }, description });

const said = (value: unknown): Content[] => [{
  type: "text",
  text: typeof value === "string" ? value : JSON.stringify(value ?? ""),
}];

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string");

const SHELL: ClientTool = {
  name: "shell",
  prefix: "sh",
  description: ({ environment }) => {
    const skills = array(object(environment).skills).map(object).map(({ name, description, path }) =>
      `\n- ${name}: ${description} (${path})`
    );
    return "Runs commands in a shell, each independently of the others, and returns the output of each." +
      (skills.length > 0
        ? `\nThese skills are available; read the file of one before you use it:${skills.join("")}`
        : "");
  },
  properties: {
    commands: texts("The commands to run."),
    timeout_ms: whole("Timeout in milliseconds."),
    max_output_length: whole("Maximum number of characters of output."),
  },
  required: ["commands"],
  args: (item) => item.action,
  fields({ commands, timeout_ms, max_output_length }) {
    if (!isTexts(commands)) return undefined;
    const action = {
      commands,
      timeout_ms: number(timeout_ms) ?? null,
      max_output_length: number(max_output_length) ?? null,
    };
    return { action, environment: { type: "local" } };
  },
  result: ({ output }) => ({ content: said(output) }),
};

const LOCAL_SHELL: ClientTool = {
  name: "local_shell",
  prefix: "lsh",
  description: () => "Runs a command on the user's machine, and returns its output.",
  properties: {
    command: texts("The program and its arguments."),
    working_directory: text("The directory in which to run it."),
    timeout_ms: whole("Timeout in milliseconds."),
    env: { type: "object", additionalProperties: { type: "string" }, description: "Environment variables." },
    user: text("The user as whom to run it."),
  },
  required: ["command"],
  args: ({ action }) => {
    const { type: _, ...args } = object(action);
    return args;
  },
  fields({ command, env, working_directory, timeout_ms, user }) {
    if (!isTexts(command)) return undefined;
    const action: Loose = { type: "exec", command, env: object(env) };
    if (typeof working_directory === "string") action.working_directory = working_directory;
    if (typeof timeout_ms === "number") action.timeout_ms = timeout_ms;
    if (typeof user === "string") action.user = user;
    return { action };
  },
  result: ({ output }) => ({ content: said(output) }),
};

const OPERATIONS = ["create_file", "update_file", "delete_file"];

const APPLY_PATCH: ClientTool = {
  name: "apply_patch",
  prefix: "apc",
  description: () =>
    "Creates, changes or deletes one file. `diff` has no header with file names. Of a new file, every line begins with `+`. Of a change, it has one or more sections, each begins with a line `@@`, which may name the enclosing function or class; then lines begin with a space (unchanged, some around each change), `-` (removed) or `+` (added).",
  properties: {
    type: { type: "string", enum: OPERATIONS },
    path: text("Path of the file."),
    diff: text("For create_file and update_file: the diff."),
  },
  required: ["type", "path"],
  args: (item) => item.operation,
  fields({ type, path, diff }) {
    if (typeof type !== "string" || !OPERATIONS.includes(type) || typeof path !== "string") return undefined;
    if (type === "delete_file") return { operation: { type, path } };
    return typeof diff === "string" ? { operation: { type, path, diff } } : undefined;
  },
  result: ({ output, status }) => ({ content: said(output ?? status), failed: status === "failed" }),
};

const POINT = { type: "object", properties: { x: { type: "integer" }, y: { type: "integer" } } };
const ACTIONS = [
  "click",
  "double_click",
  "drag",
  "keypress",
  "move",
  "screenshot",
  "scroll",
  "type",
  "wait",
];

const COMPUTER: ClientTool = {
  name: "computer",
  prefix: "cu",
  description: ({ display_width: width, display_height: height, environment }) =>
    `Controls a computer${typeof environment === "string" ? ` (${environment})` : ""} by its screen${
      width === undefined ? "" : ` of ${width} by ${height} pixels`
    }, mouse and keyboard. Each call returns a screenshot.`,
  properties: {
    type: { type: "string", enum: ACTIONS },
    x: whole("Pixels from the left, for actions of the mouse."),
    y: whole("Pixels from the top, for actions of the mouse."),
    button: {
      type: "string",
      enum: ["left", "right", "wheel", "back", "forward"],
      description: "For click.",
    },
    path: { type: "array", items: POINT, description: "For drag: the points on the way." },
    keys: texts("For keypress: the keys pressed together, such as CTRL and S."),
    scroll_x: whole("For scroll: pixels to the right."),
    scroll_y: whole("For scroll: pixels down."),
    text: text("For type: the text."),
  },
  required: ["type"],
  args: ({ action, actions }) => {
    const all = array(actions);
    return isObject(action) ? action : all.length === 1 ? all[0] : { actions: all };
  },
  fields(action) {
    if (typeof action.type !== "string" || !ACTIONS.includes(action.type)) return undefined;
    const made = action.type === "click" ? { button: "left", ...action } : action;
    // Clients of the older tool read `action`, those of the newer one `actions`.
    return { action: made, actions: [made], pending_safety_checks: [] };
  },
  result({ output }) {
    const { image_url: url, file_id: id } = object(output);
    if (typeof url === "string") return { content: [{ type: "image", source: decodeUrl(url) }] };
    return {
      content: typeof id === "string" ? [{ type: "image", source: { kind: "file", id } }] : said(output),
    };
  },
};

/** By the type of the tool. */
const TOOLS: Readonly<Record<string, ClientTool>> = {
  shell: SHELL,
  local_shell: LOCAL_SHELL,
  apply_patch: APPLY_PATCH,
  computer: COMPUTER,
  computer_use_preview: COMPUTER,
};

function toolOf(type: string): ClientTool | undefined {
  return Object.hasOwn(TOOLS, type) ? TOOLS[type] : undefined;
}

/** The name of the function for a tool of this type. Undefined: another type. */
export function clientName(type: string): string | undefined {
  return toolOf(type)?.name;
}

/** The tool as a function. Undefined: it is of another type. */
export function clientTool(type: string, tool: Loose): FunctionTool | undefined {
  const known = toolOf(type);
  if (known === undefined) return undefined;
  const { name, properties, required } = known;
  return {
    kind: "function",
    name,
    typed: name,
    description: known.description(tool),
    parameters: { type: "object", properties, required: [...required] },
  };
}

/** The call in an item. Undefined: it is another item. */
export function clientCall(item: Loose): CallContent | undefined {
  const known = itemOf(item, /^(.*)_call$/);
  const id = string(item.call_id);
  if (known === undefined || id === undefined) return undefined;
  const { name } = known;
  const args = Object.fromEntries(
    Object.entries(object(known.args(item))).filter(([, value]) => value !== null),
  );
  return { type: "call", id, name, typed: name, kind: "function", arguments: JSON.stringify(args) };
}

/** The result in an item. Undefined: it is another item. */
export function clientResult(item: Loose): ResultContent | undefined {
  const known = itemOf(item, /^(.*)_call_output$/);
  // Results of `local_shell` have the id of the call in `id`.
  const callId = string(item.call_id) ?? (known === LOCAL_SHELL ? string(item.id) : undefined);
  if (known === undefined || callId === undefined) return undefined;
  const { content, failed = false } = known.result(item);
  return { type: "result", callId, name: known.name, kind: "function", content, isError: failed };
}

function itemOf({ type }: Loose, pattern: RegExp): ClientTool | undefined {
  const [, name] = pattern.exec(string(type) ?? "") ?? [];
  return name === undefined ? undefined : toolOf(name);
}

/** The item for a call of a function that stands for a tool. Undefined: its arguments are not valid. */
export function clientItem(
  name: string,
  callId: string,
  args: string,
): { item: Loose; prefix: string } | undefined {
  const known = toolOf(name);
  const value = parse(args);
  const fields = isObject(value) ? known?.fields(value) : undefined;
  if (known === undefined || fields === undefined) return undefined;
  const item = { type: `${name}_call`, call_id: callId, status: "completed", ...fields };
  return { item, prefix: known.prefix };
}
