/**
 * Programs that print a credential. Only the operator's own files name them: an AWS profile, a credentials file of Google. They are started
 * without a shell, and what they write to the standard error is not read, since it may contain secrets.
 */
import type { ProgramRun, Surroundings } from "./surroundings.ts";
import { TokenError } from "./token_service.ts";

/** A credential document has a few kilobytes. */
const MOST_BYTES = 200_000;

/** What a program writes to its standard output. Throws a TokenError unless it ends with status 0. */
export async function outputOf(
  command: string,
  run: ProgramRun,
  { run: start = startProgram }: Pick<Surroundings, "run">,
): Promise<string> {
  const words = wordsOf(command);
  if (words === null || words.length === 0) throw new TokenError(`${run.name} is no command line`);
  return await start(words, run);
}

/**
 * The words of a command line, with the quotes and backslashes of a POSIX shell; nothing else is expanded. Null: a quote is not closed.
 */
export function wordsOf(command: string): string[] | null {
  const words: string[] = [];
  const piece = /\s+|'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+)/y;
  let word: string | null = null;
  for (let at = 0; at < command.length; at = piece.lastIndex) {
    piece.lastIndex = at;
    const found = piece.exec(command);
    if (found === null) return null;
    const [, single, double, escaped, plain] = found;
    const text = single ?? double?.replace(/\\(["\\$`\n])/g, "$1") ?? escaped ?? plain;
    if (text !== undefined) word = (word ?? "") + text;
    else if (word !== null) {
      words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}

async function startProgram(words: readonly string[], { name, env, within }: ProgramRun): Promise<string> {
  let child: Deno.ChildProcess;
  try {
    const [program, ...args] = words;
    child = new Deno.Command(program, { args, env, stdin: "null", stdout: "piped", stderr: "null" }).spawn();
  } catch (cause) {
    throw new TokenError(`${name} cannot be started${whyNot(cause)}`);
  }
  let late = false;
  const reader = child.stdout.getReader();
  const end = () => {
    // A program that it has started may keep the output open.
    reader.cancel().catch(() => {});
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
  };
  const timer = setTimeout(() => {
    late = true;
    end();
  }, within);
  try {
    const decoder = new TextDecoder();
    let text = "";
    let size = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > MOST_BYTES) throw new TokenError(`${name} writes more than ${MOST_BYTES} bytes`);
      text += decoder.decode(part.value, { stream: true });
    }
    const { code } = await child.status;
    if (late) throw new TokenError(`${name} did not end within ${within} ms`, { late });
    if (code !== 0) throw new TokenError(`${name} ended with status ${code}`);
    return text;
  } finally {
    clearTimeout(timer);
    end();
  }
}

function whyNot(cause: unknown): string {
  if (cause instanceof Deno.errors.NotFound) return ": there is no such program";
  if (cause instanceof Deno.errors.NotCapable) return ": this process may not run it (--allow-run)";
  return cause instanceof Deno.errors.PermissionDenied ? ": it is not executable" : "";
}
