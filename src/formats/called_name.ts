/** The name in a tool call of a provider. */

/** The beginning of a special token of a chat template; no API accepts it in the name of a tool. */
const TOKEN = "<|";

/** The name without what gpt-oss models append of their chat template: `json<|channel|>commentary`. */
export function calledName(name: string): string {
  const token = name.indexOf(TOKEN);
  return token > 0 ? name.slice(0, token) : name;
}
