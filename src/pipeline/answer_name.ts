/** The name of the model in an answer. */
import { answeredBy, type Call } from "./call.ts";

/**
 * Claude Code 2.1.197 drops the signed thinking of answers whose `model` differs from the requested name. Then the model repeats its
 * thinking in each turn. Version 2.1.330 does not drop it.
 */
const COMPARES = /^claude-cli\//;

/** Whether the request names its model by a short name, which the messages format allows. */
export function isShortName({ formatName }: Call["arrival"], name: string): boolean {
  return formatName === "messages" && !name.includes("/");
}

/** The catalog id of the answering model, or, for clients that compare it, the requested short name. */
export function answerName(call: Call): string {
  const { arrival, prompt } = call;
  const model = answeredBy(call);
  if (model !== call.model) return model.id;
  if (!isShortName(arrival, prompt.model)) return model.id;
  return COMPARES.test(arrival.header("user-agent") ?? "") ? prompt.model : model.id;
}
