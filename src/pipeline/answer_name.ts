/** How an answer names its model. */
import { answeredBy, type Call } from "./call.ts";

/**
 * Claude Code 2.1.197 drops the signed thinking of answers whose `model` is not the name that it asked for: without it
 * the model begins to think anew in each turn. Version 2.1.330 keeps it.
 */
const COMPARES = /^claude-cli\//;

/** Whether the call names its model by a short name, as the messages format allows. */
export function isShortName({ formatName }: Call["arrival"], name: string): boolean {
  return formatName === "messages" && !name.includes("/");
}

/** The catalog id of the model that answers, or for a client that compares it the short name that it asked for. */
export function answerName(call: Call): string {
  const { arrival, prompt } = call;
  const model = answeredBy(call);
  if (model !== call.model) return model.id;
  if (!isShortName(arrival, prompt.model)) return model.id;
  return COMPARES.test(arrival.header("user-agent") ?? "") ? prompt.model : model.id;
}
