/** A piece of a path as the name that it means. What cannot be one (a broken escape, a control character) names nothing. */
import { Failure } from "../exchange/failure.ts";

export function nameIn(path: string): string {
  let name: string | undefined;
  try {
    name = decodeURIComponent(path);
  } catch {
    // Said below.
  }
  // deno-lint-ignore no-control-regex
  if (name === undefined || /[\0-\x1f\x7f]/.test(name)) {
    throw new Failure("not_found", "There is nothing of this name here.");
  }
  return name;
}
