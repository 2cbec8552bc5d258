/**
 * The typed tools of the messages format that the client runs (`bash`, `text_editor`, `memory`, `computer`), as
 * functions for providers of other formats, whose models do not know them.
 *
 * The parameters are those of Anthropic's documentation; the client handles a call of the function like one of
 * the typed tool.
 */
import { type Loose, number, string } from "../../exchange/json.ts";
import type { FunctionTool } from "../../exchange/prompt.ts";
import { marks } from "./marks.ts";

const text = (description: string) => ({ type: "string", description });
const whole = (description: string) => ({ type: "integer", description });
const pair = (description: string) => ({
  type: "array",
  items: { type: "integer" },
  minItems: 2,
  maxItems: 2,
  description,
});

interface Description {
  description: string;
  properties: Loose;
  required: string[];
}

/** Undefined: another type. */
export function clientTool(type: string, tool: Loose): FunctionTool | undefined {
  const [, kind, version] = /^(bash|text_editor|memory|computer)_(\d{8})$/.exec(type) ?? [];
  const name = string(tool.name);
  if (kind === undefined || !name) return undefined;
  const { description, properties, required } = KINDS[kind](tool, Number(version));
  const { cache, extra } = marks(tool, KNOWN);
  return {
    kind: "function",
    name,
    description,
    parameters: { type: "object", properties, required },
    ...(cache && { cache }),
    ...(extra && { extra }),
  };
}

/** Fields that become part of the function, or are of use only at Anthropic. */
const KNOWN: ReadonlySet<string> = new Set([
  "type",
  "name",
  "cache_control",
  "max_characters",
  "display_width_px",
  "display_height_px",
  "display_number",
  "enable_zoom",
]);

const KINDS: Readonly<Record<string, (tool: Loose, version: number) => Description>> = {
  bash: () => ({
    description:
      "Runs a command in a bash shell, whose state is kept between calls, and returns its output. A call has either `command` or `restart`.",
    properties: {
      command: text("The command to run."),
      restart: { type: "boolean", description: "True restarts the shell." },
    },
    required: [],
  }),
  text_editor: (tool, version) => {
    const most = number(tool.max_characters);
    const insert = version >= 20250728 ? "insert_text" : "new_str";
    const undo = version < 20250429;
    return {
      description:
        `Views and changes text files. view: shows a file, or the entries of a directory. create: writes a new file. str_replace: replaces a text that occurs exactly once. insert: inserts a text after a line.${
          undo ? " undo_edit: takes back the last change of a file." : ""
        }${most === undefined ? "" : ` A view is cut after ${most} characters.`}`,
      properties: {
        command: {
          type: "string",
          enum: ["view", "create", "str_replace", "insert", ...(undo ? ["undo_edit"] : [])],
        },
        path: text("Path of the file or directory."),
        view_range: pair(
          "For view of a file: the first and the last line, from 1; -1 is the end of the file.",
        ),
        file_text: text("For create: the content of the file."),
        old_str: text("For str_replace: the text to replace, with its white space."),
        new_str: text(
          insert === "new_str"
            ? "For str_replace and insert: the new text."
            : "For str_replace: the new text.",
        ),
        insert_line: whole("For insert: the line after which the text is inserted; 0 is the beginning."),
        ...(insert === "insert_text" && { insert_text: text("For insert: the text to insert.") }),
      },
      required: ["command", "path"],
    };
  },
  memory: () => ({
    description:
      "Stores and reads files in the directory /memories, which are kept between conversations. Look at the directory before a task, and store there what will be needed later.",
    properties: {
      command: { type: "string", enum: ["view", "create", "str_replace", "insert", "delete", "rename"] },
      path: text("Path of the file or directory, below /memories. Not for rename."),
      view_range: pair("For view of a file: the first and the last line, from 1."),
      file_text: text("For create: the content of the file."),
      old_str: text("For str_replace: the text to replace."),
      new_str: text("For str_replace: the new text."),
      insert_line: whole("For insert: the line after which the text is inserted; 0 is the beginning."),
      insert_text: text("For insert: the text to insert."),
      old_path: text("For rename: the present path."),
      new_path: text("For rename: the new path."),
    },
    required: ["command"],
  }),
  computer: (tool, version) => {
    const zoom = version >= 20251124 && tool.enable_zoom === true;
    const size = [tool.display_width_px, tool.display_height_px].map((pixels) => number(pixels));
    return {
      description: `Controls a computer by its screen${
        size.includes(undefined) ? "" : ` of ${size[0]} by ${size[1]} pixels`
      }, mouse and keyboard. Take a screenshot to see the screen.`,
      properties: {
        action: {
          type: "string",
          enum: [...ACTIONS, ...(version >= 20250124 ? LATER_ACTIONS : []), ...(zoom ? ["zoom"] : [])],
        },
        coordinate: pair("Position in pixels from the left and the top, for actions of the mouse."),
        start_coordinate: pair("For left_click_drag: where it starts."),
        text: text("For type: the text. For key and hold_key: the keys, such as ctrl+s."),
        ...(version >= 20250124 && {
          scroll_direction: { type: "string", enum: ["up", "down", "left", "right"] },
          scroll_amount: whole("For scroll: how many steps."),
          duration: { type: "number", description: "For wait and hold_key: seconds." },
        }),
        ...(zoom && {
          region: {
            type: "array",
            items: { type: "integer" },
            minItems: 4,
            maxItems: 4,
            description: "For zoom: left, top, right and bottom of the region.",
          },
        }),
      },
      required: ["action"],
    };
  },
};

const ACTIONS = [
  "key",
  "type",
  "mouse_move",
  "left_click",
  "left_click_drag",
  "right_click",
  "middle_click",
  "double_click",
  "screenshot",
  "cursor_position",
];

const LATER_ACTIONS = [
  "left_mouse_down",
  "left_mouse_up",
  "triple_click",
  "scroll",
  "hold_key",
  "wait",
];
