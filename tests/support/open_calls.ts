/** The calls of a process that have begun and not ended, as it tells those who watch. */
import type { Administration, LiveFilter } from "../../src/accounts/mod.ts";

/** How many there are, at most 100. Who asks again within half a second gets the same answer, but for another filter. */
export async function openCalls(
  accounts: Pick<Administration, "watch">,
  filter: LiveFilter = {},
): Promise<number> {
  const reader = (await accounts.watch({ filter, stillMay: () => true })).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  const hello = /^event: hello\ndata: (.*)$/m.exec(new TextDecoder().decode(value));
  return JSON.parse(hello![1]).running.length;
}
