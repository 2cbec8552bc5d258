/** A request as `curl`, and with the clients that people have. The key is a variable: no code shows one. */
import { FORMATS } from "./requests.js";

/** @typedef {import("./requests.js").Format} Format */
/** @typedef {"curl" | "python" | "javascript"} Language */

/** @type {readonly (readonly [Language, string])[]} */
export const LANGUAGES = [["curl", "curl"], ["python", "Python"], ["javascript", "JavaScript"]];

/** How Node.js reads the variable; the page itself reads none. */
const NODE_KEY = ["process", "env", "SLUICE_API_KEY"].join(".");

/** Longer texts without blanks are bytes of a file: they stand in no example. */
const LONG = 2000;

/**
 * @param {Language} language
 * @param {Format} format
 * @param {Record<string, any>} body
 * @param {string} origin of the gateway
 */
export function codeOf(language, format, body, origin) {
  return WRITERS[language](format, /** @type {Record<string, any>} */ (shortened(body)), origin);
}

/** @param {unknown} value @returns {unknown} */
function shortened(value) {
  if (typeof value === "string" && value.length > LONG && !/\s/.test(value)) {
    return `${/^data:[^,]*,/.exec(value)?.[0] ?? ""}BASE64_OF_YOUR_IMAGE`;
  }
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shortened(item)]));
}

/** @type {Record<Language, (format: Format, body: Record<string, any>, origin: string) => string>} */
const WRITERS = {
  curl(format, body, origin) {
    const quoted = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`);
    return [
      `curl -N ${origin}${FORMATS[format].path} \\`,
      `  -H "Authorization: Bearer $SLUICE_API_KEY" \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d '${quoted}'`,
    ].join("\n");
  },
  python(format, { stream = false, plugins, stream_options, ...body }, origin) {
    const own = plugins ? [`    extra_body=${python({ plugins }, 1)},`] : [];
    const given = Object.entries(body).map(([name, value]) => `    ${name}=${python(value, 1)},`);
    const streamed = stream ? ["    stream=True,"] : [];
    const usage = stream_options ? [`    stream_options=${python(stream_options, 1)},`] : [];
    const call = [...given, ...streamed, ...usage, ...own].join("\n");
    const { module, name, base, method, print, printStream } = PYTHON[format];
    const head = [
      "import os",
      `from ${module} import ${name}`,
      "",
      `client = ${name}(base_url="${origin}${base}", api_key=os.environ["SLUICE_API_KEY"])`,
    ];
    return [...head, `answer = client.${method}(`, call, ")", stream ? printStream : print].join("\n");
  },
  javascript(format, body, origin) {
    const { module, name, base, method, print, printStream } = JAVASCRIPT[format];
    return [
      `import ${name} from "${module}";`,
      "",
      `const client = new ${name}({ baseURL: "${origin}${base}", apiKey: ${NODE_KEY} });`,
      `const answer = await client.${method}(${JSON.stringify(body, null, 2)});`,
      body.stream ? printStream : print,
    ].join("\n");
  },
};

/** Official clients of each format. Those of messages put the version into the path themselves. */
const PYTHON = {
  chat: {
    module: "openai",
    name: "OpenAI",
    base: "/v1",
    method: "chat.completions.create",
    print: "print(answer.choices[0].message.content)",
    printStream:
      'for chunk in answer:\n    if chunk.choices:\n        print(chunk.choices[0].delta.content or "", end="")',
  },
  messages: {
    module: "anthropic",
    name: "Anthropic",
    base: "",
    method: "messages.create",
    print: "print(answer.content)",
    printStream:
      'for event in answer:\n    if event.type == "content_block_delta" and event.delta.type == "text_delta":\n        print(event.delta.text, end="")',
  },
  responses: {
    module: "openai",
    name: "OpenAI",
    base: "/v1",
    method: "responses.create",
    print: "print(answer.output_text)",
    printStream:
      'for event in answer:\n    if event.type == "response.output_text.delta":\n        print(event.delta, end="")',
  },
};

const JAVASCRIPT = {
  chat: {
    ...PYTHON.chat,
    print: "console.log(answer.choices[0].message.content);",
    printStream:
      'for await (const chunk of answer) process.stdout.write(chunk.choices[0]?.delta?.content ?? "");',
  },
  messages: {
    ...PYTHON.messages,
    module: "@anthropic-ai/sdk",
    print: "console.log(answer.content);",
    printStream:
      'for await (const event of answer) {\n  if (event.type === "content_block_delta") process.stdout.write(event.delta.text ?? "");\n}',
  },
  responses: {
    ...PYTHON.responses,
    print: "console.log(answer.output_text);",
    printStream:
      'for await (const event of answer) {\n  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);\n}',
  },
};

/**
 * A value as Python writes it.
 * @param {unknown} value
 * @param {number} depth
 * @returns {string}
 */
function python(value, depth) {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const pad = "    ".repeat(depth + 1);
  const end = "    ".repeat(depth);
  const lines = Array.isArray(value)
    ? value.map((item) => `${pad}${python(item, depth + 1)},`)
    : Object.entries(value).filter(([, item]) => item !== undefined)
      .map(([name, item]) => `${pad}${JSON.stringify(name)}: ${python(item, depth + 1)},`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return lines.length === 0 ? open + close : `${open}\n${lines.join("\n")}\n${end}${close}`;
}
